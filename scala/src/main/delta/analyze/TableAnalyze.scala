package org.apache.spark.sql.delta.upkeep.analyze

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.collection.mutable

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.analyze._
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{DeltaOperations, RowTracking}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.commit.CommitBase
import org.apache.spark.sql.delta.upkeep.files.{FilePredicate, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/**
 * One ANALYZE: its plan, and its execution. New statistics are committed with `dataChange = false` for the same paths.
 *
 * @param predicate conditions on partition columns that choose the files
 * @param columns   files that have statistics of these are complete; none means all that the table collects
 */
final case class TableAnalyze(
    table: DeltaHandle,
    predicate: Seq[Expression],
    columns: Seq[Seq[String]],
    settings: AnalyzeSettings
) {
  import TableAnalyze._

  private val selected = new SelectedFiles(table, FilePredicate(predicate), whole = true)
  private lazy val adds: Map[String, AddFile] = byName(selected)

  lazy val plan: AnalyzePlan = {
    val collected = new CollectedColumns(table)
    val gaps = new StatsGaps(if (columns.isEmpty) collected.all else collected.of(columns))
    val files = adds.toVector.sortBy(_._1).map { case (name, add) =>
      val reason = gaps.of(add.stats).orElse(Option.when(settings.all)(AnalyzeReason.Asked))
      AnalyzedFile(name, add.size, reason.getOrElse(AnalyzeReason.Complete))
    }
    AnalyzePlan(files).limitedTo(settings.maxBytes)
  }

  def planned(): AnalyzeResult = AnalyzeResult.planned(table.path, plan)

  /** @throws io.deltaupkeep.UpkeepException `ANALYZE_CONFLICT` if every attempt of a commit met a conflict */
  def execute(): AnalyzeResult = {
    if (plan.toRead.nonEmpty) table.requireWritableLog(Statement)
    val statistics = new FileStatistics(table)
    val done = batches.map { batch =>
      val read = statistics.of(batch.map(file => adds(file.path)))
      val made = read.collect { case (add, Right(stats)) => add -> stats }
      val (same, others) = made.partition { case (add, stats) => MergedStats.areSame(add.stats, stats) }
      val committed =
        commit(others.map { case (add, stats) => nameOf(add) -> stats }, table, selected, attempt = 1)
      val unreadable = read.collect { case (add, Left(error)) =>
        nameOf(add) -> s"${add.path}: ${error.text.cause}"
      }
      committed.copy(same = same.keySet.map(nameOf), unreadable = unreadable)
    }.toVector
    val updated = done.flatMap(_.updated).toSet
    val found = plan.toRead.filter(file => file.reason == AnalyzeReason.Asked && updated(file.path))
      .map(_.path -> AnalyzeReason.Different) ++
      done.flatMap(_.same).map(_ -> AnalyzeReason.Same) ++
      done.flatMap(_.lost).map(_ -> AnalyzeReason.Overtaken)
    val unreadable = done.flatMap(_.unreadable)
    val there = if (unreadable.isEmpty) Set.empty[String] else byName(newest._2).keySet
    val left = unreadable.map { case (name, why) =>
      name -> (if (there(name)) AnalyzeReason.Unreadable(why) else AnalyzeReason.Overtaken)
    }
    val version = done.flatMap(_.version).lastOption
    AnalyzeResult.done(table.path, plan.withReasons((found ++ left).toMap), version, updated.size.toLong)
  }

  /**
   * So that little is read again after an error, and the driver holds little. A damaged log may name a path twice,
   * with different deletion vectors, which Delta does not commit together.
   */
  private def batches: Iterator[Seq[AnalyzedFile]] = {
    val rest = plan.toRead.iterator.buffered
    Iterator.continually {
      var bytes = 0L
      val batch = Vector.newBuilder[AnalyzedFile]
      val paths = mutable.Set.empty[String]
      while (
        rest.hasNext && bytes < BytesOfCommit && paths.size < FilesOfCommit && paths.add(
          adds(rest.head.path).path
        )
      ) {
        batch += rest.head
        bytes += rest.next().sizeInBytes
      }
      batch.result()
    }.takeWhile(_.nonEmpty)
  }

  /** Commits statistics for the files that are still in the table, with the deletion vectors that they had. */
  @tailrec
  private def commit(
      statistics: Map[String, String],
      handle: DeltaHandle,
      current: SelectedFiles,
      attempt: Int
  ): Committed = {
    val files = if (attempt == 1) adds else byName(current)
    val (there, lost) = statistics.partition { case (name, _) =>
      files.get(name).exists(isSame(_, adds(name)))
    }
    if (there.isEmpty) Committed(None, Set.empty, lost.keySet)
    else
      tryCommit(there.toSeq.map { case (name, stats) => files(name) -> stats }, handle, current) match {
        case Right(version) => Committed(Some(version), there.keySet, lost.keySet)
        case Left(conflict) =>
          if (attempt == MaxAttempts) throw UpkeepErrors.analyzeConflict(table.name, MaxAttempts, conflict)
          val (handle, files) = newest
          commit(statistics, handle, files, attempt + 1)
      }
  }

  /** Some writers give a file the name of another that is gone. */
  private def isSame(one: AddFile, other: AddFile): Boolean =
    one.size == other.size && one.modificationTime == other.modificationTime

  private def newest: (DeltaHandle, SelectedFiles) = {
    val handle = table.updated(Statement, Intent.Reorganize)
    (handle, new SelectedFiles(handle, FilePredicate(predicate), whole = true))
  }

  /** A commit that landed although it reports a conflict is done again, which changes nothing. */
  private def tryCommit(
      statistics: Seq[(AddFile, String)],
      handle: DeltaHandle,
      current: SelectedFiles
  ): Either[ConcurrentModificationException, Long] = {
    val transaction = handle.table.startTransaction(Some(CommitBase.of(handle.snapshot, current)))
    val added = statistics.map { case (add, stats) =>
      NewFile.changed(add)(stats = stats, dataChange = false)
    }
    transaction.trackFilesRead(statistics.flatMap { case (add, _) => current.ids.spellings(add) })
    transaction.trackReadPredicates(predicate)
    val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(transaction.snapshot)
    try Right(transaction.commit(added, DeltaOperations.ComputeStats(predicate), tags))
    catch { case conflict: ConcurrentModificationException => Left(conflict) }
  }
}

object TableAnalyze {
  private val Statement = "ANALYZE"
  private val MaxAttempts = 10
  private val BytesOfCommit = 10L << 30
  private val FilesOfCommit = 20000

  /** Which files an ANALYZE without options reads. */
  def gaps(table: DeltaHandle): StatsGaps = new StatsGaps(new CollectedColumns(table).all)

  /** What became of a batch. */
  private final case class Committed(
      version: Option[Long],
      updated: Set[String],
      lost: Set[String],
      same: Set[String] = Set.empty,
      unreadable: Map[String, String] = Map.empty
  )

  /** Distinguishes a file from itself with another deletion vector. */
  private def nameOf(add: AddFile): String = add.path + add.getDeletionVectorUniqueId.fold("")("@" + _)

  private def byName(files: SelectedFiles): Map[String, AddFile] =
    files.adds.iterator.map(add => nameOf(add) -> add).toMap
}
