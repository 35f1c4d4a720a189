package org.apache.spark.sql.delta.upkeep.table

import io.delta.tables.execution.VacuumTableCommand

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedTable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.UnresolvedPathBasedDeltaTable
import org.apache.spark.sql.delta.commands.{
  DeltaReorgTable,
  DeltaReorgTableCommand,
  DeltaReorgTableMode,
  DeltaReorgTableSpec,
  OptimizeTableCommand
}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * The parts of Delta's own OPTIMIZE: the table, the predicates as text, the columns of ZORDER BY, and FULL.
 */
object DeltaOptimize {

  def apply(
      table: LogicalPlan,
      predicates: Seq[String],
      zOrderBy: Seq[Seq[String]],
      full: Boolean
  ): LogicalPlan = {
    val context = DeltaApi.current.optimizeContext("OPTIMIZE", full)
    new OptimizeTableCommand(table, predicates, context)(zOrderBy.map(UnresolvedAttribute(_)))
  }

  def unapply(plan: LogicalPlan): Option[(LogicalPlan, Seq[String], Seq[Seq[String]], Boolean)] = plan match {
    case command @ OptimizeTableCommand(child, predicates, context) =>
      DeltaApi.current.fullOf(context).map((child, predicates, command.zOrderBy.map(_.nameParts), _))
    case _ => None
  }
}

/**
 * The parts of Delta's `REORG TABLE ... APPLY (PURGE)`: the table, and the predicates as text. Other kinds of REORG are
 * left to Delta.
 */
object DeltaPurge {

  def apply(table: LogicalPlan, predicates: Seq[String]): LogicalPlan =
    new DeltaReorgTableCommand(table, Purge)(predicates)

  def unapply(plan: LogicalPlan): Option[(LogicalPlan, Seq[String])] = plan match {
    case parsed @ DeltaReorgTable(child, Purge) => Some((child, parsed.predicates))
    case resolved @ DeltaReorgTableCommand(child, Purge) => Some((child, resolved.predicates))
    case _ => None
  }

  private val Purge = DeltaReorgTableSpec(DeltaReorgTableMode.PURGE, None)
}

/** The parts of Delta's own VACUUM. */
final class DeltaVacuum private (command: VacuumTableCommand) {

  def table: LogicalPlan = command.child

  /** In hours, rounded as Delta does. */
  def retain: Option[String] = command.horizonHours.map(math.round(_).toString)

  def dryRun: Boolean = command.dryRun

  /** Whether it is to look in the log alone. */
  def isLite: Boolean = DeltaApi.current.isLite(command)

  /** A table, or a query in parentheses. */
  def inventory: Option[String] = command.inventoryTable.collect { case table: UnresolvedTable =>
    DeltaTarget.quoted(table.multipartIdentifier)
  }.orElse(command.inventoryQuery.map(query => s"(${query.replaceFirst("[;\\s]+$", "")})"))

  /** The same of a table that has been looked up. */
  def of(table: LogicalPlan): LogicalPlan = command.withNewChildren(Seq(table))
}

object DeltaVacuum {
  def unapply(plan: LogicalPlan): Option[DeltaVacuum] = plan match {
    case command: VacuumTableCommand => Some(new DeltaVacuum(command))
    case _ => None
  }
}

/**
 * A table that was found by its path: the path, and the Hadoop settings to access it. On Spark 3.5 Delta may have opened
 * it already, also at an old version or from the directory of a partition.
 */
object DeltaPath {
  def unapply(plan: LogicalPlan): Option[(String, Map[String, String])] = plan match {
    case UnresolvedPathBasedDeltaTable(path, options, _) => Some((path, options))
    case _ => Plans.pathTableIn(plan).map(table => (table.path.toString, table.options))
  }
}
