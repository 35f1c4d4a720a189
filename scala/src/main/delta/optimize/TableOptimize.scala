package org.apache.spark.sql.delta.upkeep.optimize

import scala.annotation.tailrec

import io.deltaupkeep.{CountText, FileTotal, Options, UpkeepErrors, UpkeepException}
import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.parquet.encoding.Compression
import io.deltaupkeep.plan.cluster.LayoutChoice
import io.deltaupkeep.plan.compact.{
  CodecFindings,
  CommitOutcome,
  FileSizes,
  Layout,
  OptimizePlan,
  OptimizeResult,
  OptimizeScope,
  OptimizeSettings
}

import org.apache.spark.sql.delta.upkeep.commit.{CommitBase, OptimizeCommitter}
import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.rewrite.BinWriter
import org.apache.spark.sql.delta.upkeep.splice.{BinSplicer, CodecScan}
import org.apache.spark.sql.delta.upkeep.files.{DataFiles, FilePredicate, FileWindow, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures, Intent}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * The request of an OPTIMIZE.
 *
 * @param isAuto    whether a commit started it, not a user; the history shows it
 */
final case class OptimizeRequest(layout: Layout, predicate: FilePredicate, isAuto: Boolean = false)

/**
 * One OPTIMIZE or REORG: its plan, and its execution.
 *
 * @param whole whether the caller needs Delta's actions of all files
 * @param only  the files of a window, or None for all: if they are too many, it goes window by window
 */
final case class TableOptimize(
    table: DeltaHandle,
    request: OptimizeRequest,
    settings: OptimizeSettings,
    whole: Boolean = false,
    only: Option[FileWindow] = None
) {
  import request.predicate
  import request.layout.statement

  private val layout = TableLayout.of(table, request.layout)
  private val metrics = UpkeepMetrics.of(table).rewrite

  /** The files that the predicate selects. */
  val selected: SelectedFiles =
    new SelectedFiles(table, predicate, whole || layout.needsActions, layout.mayChoose(settings), only)

  /**
   * The plan by the log alone.
   *
   * @throws io.deltaupkeep.UpkeepException if Delta has no statistics or no order for a column of ZORDER BY
   */
  private lazy val planByLog: OptimizePlan = planWith(CodecFindings.none)

  /** The codec for which the footers of the other files are read. */
  private val otherCodecThan: Option[Compression] =
    settings.compression.filter(_ => settings.rewritesCodecs && layout.recompresses)

  /** The files that have another codec than was asked for. */
  private lazy val codecs: CodecFindings = otherCodecThan.fold(CodecFindings.none) { asked =>
    new CodecScan(table).findings(planByLog.notPlanned(selected.files), asked.codec)
  }

  lazy val plan: OptimizePlan =
    if (otherCodecThan.isEmpty) planByLog else planWith(codecs)

  private def planWith(codecs: CodecFindings): OptimizePlan =
    layout.plan(selected, settings, codecs).copy(waiting = TableOptimize.total(selected.laterWindows))

  /** What it would do, in words. */
  def describe: Seq[String] = planByLog.describe ++ otherCodecThan.map { asked =>
    val others = CountText.of(planByLog.notPlanned(selected.files).size, "other file")
    s"of $others, those with another codec than ${asked.text} are compressed again; DRY RUN finds them by their footers"
  } ++ layout.forecast(selected, planByLog).map { key =>
    f"a query for one value of ${key.column} opens up to ${key.openedBefore}%.0f%% of the files, " +
      f"and about ${key.openedAfter}%.0f%% after it"
  } ++ (selected.replay match {
    case ReplayPlace.OnDriver => None
    case job: ReplayPlace.AsJob => Some(s"the files are found ${job.reason}")
  })

  /** The result of a dry run, with the tiers that the footers of the files require. Starts no transaction. */
  def planned(): OptimizeResult = {
    selected.load(plan.files)
    val (tiered, rowGroups) = new BinSplicer(table, plan, selected.actionOf, layout.curve).preview()
    OptimizeResult.planned(scope, tiered, rowGroups, layout.forecast(selected, plan), table.now)
  }

  /** The same with the tiers that follow from the log, so no footer is read for them. */
  def plannedByLog(): OptimizeResult =
    OptimizeResult.planned(scope, plan, Map.empty, layout.forecast(selected, plan), table.now)

  private def scope: OptimizeScope = DeltaMetrics.scopeOf(table, selected, layout)

  def execute(): OptimizeResult = goOn(this, selected.laterWindows, None, None)

  /**
   * Goes on with other windows, on the newest version, as far as the limits of a run allow. What fails in one is thrown
   * after the last, so that no file keeps the others from being rewritten.
   */
  @tailrec
  private def goOn(
      next: TableOptimize,
      later: Seq[FileWindow],
      before: Option[OptimizeResult],
      failure: Option[UpkeepException]
  ): OptimizeResult = {
    def result = InputFailures.explained(statement, table.table)(next.executeWindow())
    val (done, failed) =
      try { (Some(before.foldRight(result)(_ ++ _)), failure) }
      catch {
        case e: UpkeepException if later.nonEmpty || failure.nonEmpty => (before, failure.orElse(Some(e)))
      }
    def end(waits: Option[String]) = {
      failed.foreach(throw _)
      waits.foldLeft(done.get)(_.leaving(TableOptimize.total(later), _))
    }
    if (later.isEmpty) end(None)
    else {
      val newest = table.updated(statement, Intent.Reorganize)
      val left = settings.after(done.fold(FileSizes.of(Nil))(_.metrics.filesRemoved))
      (left, DataFiles.excess(newest)) match {
        case (None, _) => end(Some("a later run plans them"))
        case (_, Some(why)) => end(Some(s"CHECKPOINT, and a later run plans them: $why"))
        case (Some(limits), None) =>
          goOn(copy(table = newest, settings = limits, only = later.headOption), later.tail, done, failed)
      }
    }
  }

  private def executeWindow(): OptimizeResult = {
    val startedAt = table.now
    val (last, outcome) =
      if (plan.isEmpty) (plan, CommitOutcome.nothingToDo)
      else {
        table.requireWritableLog(statement)
        runOn(plan, codecs)
      }
    metrics.left.inc((last.left.size + outcome.left.size).toLong)
    OptimizeResult.executed(
      scope,
      last,
      outcome,
      DeltaApi.current.batchesOf(outcome.committed.size, outcome.versions.size),
      settings.verify,
      startedAt,
      table.now
    )
  }

  /**
   * Damaged files that would be rewritten only for their codec do not use up what a run may rewrite: if it has found
   * nothing else, it goes on to what was deferred.
   *
   * @return also the plan that came last
   */
  private def runOn(plan: OptimizePlan, codecs: CodecFindings): (OptimizePlan, CommitOutcome) = {
    val outcome = run(plan, TableOptimize.MaxReplans)
    val rest = codecs.without(outcome.left.flatMap(_.files).map(_.id))
    if (plan.deferred.isEmpty || outcome.committed.nonEmpty || rest == codecs) (plan, outcome)
    else {
      val (last, later) = runOn(planWith(rest), rest)
      (last, outcome ++ later)
    }
  }

  /**
   * Bins that lost a file to another writer are planned again on the newest version, a few times. A table
   * that is rewritten faster than it can be compacted is better left alone.
   */
  private def run(plan: OptimizePlan, replans: Int): CommitOutcome = {
    val outcome = runOnce(plan)
    if (outcome.lost.isEmpty || replans == 0 || request.layout.reorders) outcome
    else {
      val partitions = outcome.lost.map(_.partition).toSet
      val later = copy(table = table.updated(statement, Intent.Reorganize), only = selected.window)
      val again = later.plan.copy(bins = later.plan.bins.filter(bin => partitions(bin.partition)))
      if (again.isEmpty) outcome else outcome ++ later.run(again, replans - 1)
    }
  }

  /** Writes and commits the bins of a plan for this version of the table. */
  private[upkeep] def runOnce(plan: OptimizePlan): CommitOutcome = {
    selected.load(plan.files)
    val transaction = table.table.startTransaction(Some(CommitBase.of(table.snapshot, selected)))
    val written = new BinWriter(table, layout, plan, selected.actionOf).write()
    val operation = layout.operation(predicate.all, request.isAuto)
    val outcome =
      try
        new OptimizeCommitter(table, selected, operation, settings, layout.mayHide).commit(
          written,
          transaction
        )
      finally written.close()
    metrics.mismatched.inc(outcome.odd.size.toLong)
    outcome.odd.headOption.foreach { first =>
      throw UpkeepErrors.rewriteMismatch(table.name, outcome.odd.size, first.text)
    }
    outcome
  }
}

object TableOptimize {

  /** OPTIMIZE of all files, in the table's own layout. */
  def ofAll(table: DeltaHandle, options: Options, whole: Boolean = false): TableOptimize = {
    val layout = new LayoutChoice(table.facts, table.session.sessionState.conf.resolver)
      .of(full = false)
    TableOptimize(
      table,
      OptimizeRequest(layout, FilePredicate.none),
      OptimizeSettings(options, OptimizeDefaults.of(table)),
      whole
    )
  }

  /** The same, or a compaction where the table's property does not say how its rows are sorted. */
  def ofAllOrCompaction(table: DeltaHandle, whole: Boolean): TableOptimize =
    try {
      val optimize = ofAll(table, new Options("OPTIMIZE", Nil, Nil), whole)
      optimize.plan
      optimize
    } catch {
      case e: UpkeepException if e.name == "INVALID_SORT_ORDER" =>
        val request = OptimizeRequest(Layout.Compact, FilePredicate.none)
        TableOptimize(table, request, OptimizeDefaults.of(table), whole)
    }

  private val MaxReplans = 3

  private def total(windows: Seq[FileWindow]): FileTotal =
    windows.map(_.files).foldLeft(FileTotal.none)(_ ++ _)
}
