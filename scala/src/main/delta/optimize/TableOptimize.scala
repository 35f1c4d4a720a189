package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.compact.{
  CommitOutcome,
  Layout,
  OptimizePlan,
  OptimizePlanner,
  OptimizeResult,
  OptimizeScope,
  OptimizeSettings
}

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.upkeep.commit.{CommitBase, OptimizeCommitter}
import org.apache.spark.sql.delta.upkeep.rewrite.{BinWriter, OddBins}
import org.apache.spark.sql.delta.upkeep.splice.{BinSplicer, SpliceEligibility}
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaRefusals, Intent}
import org.apache.spark.sql.delta.upkeep.versions.{DeltaApi, FilesToPurge}

/**
 * The request of an OPTIMIZE.
 *
 * @param predicate conditions on partition columns that choose the files
 * @param isAuto    whether a commit started it, not a user; the history shows it
 */
final case class OptimizeRequest(layout: Layout, predicate: Seq[Expression], isAuto: Boolean = false) {

  /** What a user has typed. */
  def statement: String = layout match {
    case Layout.Purge(_) => "REORG"
    case _ => "OPTIMIZE"
  }
}

/** One OPTIMIZE or REORG: its plan, and its execution. */
final case class TableOptimize(table: DeltaHandle, request: OptimizeRequest, settings: OptimizeSettings) {
  import request.{layout, predicate}

  private val selected = new SelectedFiles(table, predicate)

  /**
   * @throws io.deltaupkeep.UpkeepException if Delta has no statistics or no order for a column of ZORDER BY
   */
  lazy val plan: OptimizePlan = layout match {
    case Layout.Compact => OptimizePlanner.compact(selected.files, settings, needsRows)
    case purge: Layout.Purge =>
      val chosen = FilesToPurge.of(table.session, table.snapshot, selected.adds.toSeq).map(selected.ids.idOf)
      OptimizePlanner.purge(selected.files, chosen.toSet, settings, purge, needsRows)
    case Layout.ZOrder(columns) =>
      checkZOrderColumns(columns)
      OptimizePlanner.zOrder(selected.files, settings, columns)
    case cluster: Layout.Cluster =>
      val groups = ClusteringGroups.of(table, selected, cluster)
      OptimizePlanner.cluster(selected.files, groups, settings, cluster)
  }

  private def needsRows: Option[String] = SpliceEligibility.rowsReason(table.session, table.snapshot)

  /** The result of a dry run, with the tiers that the footers of the files require. Starts no transaction. */
  def planned(): OptimizeResult = {
    val (tiered, rowGroups) = new BinSplicer(table, plan, selected.actionOf).preview()
    OptimizeResult.planned(scope, tiered, rowGroups, System.currentTimeMillis())
  }

  private def scope: OptimizeScope = DeltaMetrics.scopeOf(table, selected, layout)

  def execute(): OptimizeResult = {
    val startedAt = System.currentTimeMillis()
    val outcome =
      if (plan.isEmpty) CommitOutcome.nothingToDo
      else {
        table.requireWritableLog(request.statement)
        run(plan, TableOptimize.MaxReplans)
      }
    OptimizeResult.executed(
      scope,
      plan,
      outcome,
      DeltaApi.current.batchesOf(outcome.committed.size, outcome.versions.size),
      settings.verify,
      startedAt,
      System.currentTimeMillis()
    )
  }

  /**
   * Bins that lost a file to another writer are planned again on the newest version, a few times. A table
   * that is rewritten faster than it can be compacted is better left alone.
   */
  private def run(plan: OptimizePlan, replans: Int): CommitOutcome = {
    val outcome = runOnce(plan)
    if (outcome.lost.isEmpty || replans == 0 || !keepsOrder) outcome
    else {
      val partitions = outcome.lost.map(_.partition).toSet
      val later = copy(table = table.updated(request.statement, Intent.Reorganize))
      val again = later.plan.copy(bins = later.plan.bins.filter(bin => partitions(bin.partition)))
      if (again.isEmpty) outcome else outcome ++ later.run(again, replans - 1)
    }
  }

  private def keepsOrder: Boolean = layout match {
    case Layout.Compact | Layout.Purge(_) => true
    case _ => false
  }

  /** Writes and commits the bins of a plan of this table's version. */
  private[upkeep] def runOnce(plan: OptimizePlan): CommitOutcome = {
    val transaction = table.table.startTransaction(Some(CommitBase.of(table.snapshot, selected)))
    val odd = new OddBins
    val writer = new BinWriter(table, plan, selected.actionOf, odd)
    val written = writer.write()
    try {
      val committed =
        new OptimizeCommitter(table, selected, operation, settings, odd).commit(written, transaction)
      odd.all.headOption.foreach { first =>
        throw UpkeepErrors.rewriteMismatch(table.name, odd.all.size, first.text)
      }
      committed.copy(left = writer.left)
    } finally written.close()
  }

  private def operation: DeltaOperations.Operation = {
    val operationOf = DeltaApi.current.optimizeOperation(predicate, _, request.isAuto, _, _)
    layout match {
      case Layout.Compact => operationOf(Nil, None, false)
      case Layout.Purge(_) => DeltaOperations.Reorg(predicate)
      case Layout.ZOrder(columns) => operationOf(columns, None, false)
      case Layout.Cluster(columns, full) => operationOf(Nil, Some(columns), full)
    }
  }

  /** Delta's own rules: of a type with an order, with statistics. */
  private def checkZOrderColumns(columns: Seq[String]): Unit = {
    val attributes = columns.map(UnresolvedAttribute.quotedString)
    val command = OptimizeTableCommand(Some(table.path), None, Nil)(attributes)
    attributes.foreach(column =>
      DeltaRefusals.ofZOrder(column.nameParts, table.name) {
        DeltaApi.current.checkZOrder(command, table.session, table.snapshot, Seq(column))
      }
    )
  }
}

object TableOptimize {
  private val MaxReplans = 3
}
