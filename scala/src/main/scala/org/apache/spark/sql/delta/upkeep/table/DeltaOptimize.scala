package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.UnresolvedPathBasedDeltaTable
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.upkeep.api.DeltaApi

/**
 * The parts of Delta's own OPTIMIZE: the table, the predicates as text, the columns of ZORDER BY, and FULL.
 * REORG, which is the same command with another context, is left to Delta.
 */
object DeltaOptimize {
  def unapply(plan: LogicalPlan): Option[(LogicalPlan, Seq[String], Seq[Seq[String]], Boolean)] = plan match {
    case command @ OptimizeTableCommand(child, predicates, context) =>
      DeltaApi.current.fullOf(context).map((child, predicates, command.zOrderBy.map(_.nameParts), _))
    case _ => None
  }
}

/** A table that Delta's parser found by its path: the path, and the Hadoop settings to access it. */
object DeltaPath {
  def unapply(plan: LogicalPlan): Option[(String, Map[String, String])] = plan match {
    case UnresolvedPathBasedDeltaTable(path, options, _) => Some((path, options))
    case _ => None
  }
}
