package io.deltaupkeep.sql

import io.deltaupkeep.sql.parser.UpkeepSqlParser
import io.deltaupkeep.statement.{OptimizeClauses, OptimizeCommand, ReorgCommand, UnresolvedTarget}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.upkeep.table.{DeltaOptimize, DeltaPath, DeltaPurge}

/**
 * Replaces Delta's OPTIMIZE and its REORG for PURGE with ours. Delta's command is in a plan if Delta's parser saw the text first, or
 * if `DeltaTable.optimize()` built it.
 *
 * Delta's grammar takes everything after WHERE as the predicate, so it may contain DRY RUN and OPTIONS. Our
 * grammar parses the text again.
 */
private[sql] final case class ReplaceDeltaOptimize(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case DeltaOptimize(child, predicates, zOrderBy, full) =>
      val plain = OptimizeClauses(full, Nil, zOrderBy, dryRun = false, Nil)
      OptimizeCommand(
        targetOf("OPTIMIZE", child),
        predicates.foldLeft(plain)((clauses, text) => merge(clauses, clausesOf(text)))
      )
    case DeltaPurge(child, predicates) =>
      ReorgCommand(targetOf("REORG", child), predicates)
  }

  private def targetOf(statement: String, child: LogicalPlan): LogicalPlan = child match {
    case table: UnresolvedTable => UnresolvedTarget.name(statement, table.multipartIdentifier)
    case DeltaPath(path, options) => UnresolvedTarget.path(statement, path, options)
    case resolved => resolved
  }

  private def clausesOf(predicate: String): OptimizeClauses =
    UpkeepSqlParser.parseOptimizeClauses(session.sessionState.sqlParser, s"WHERE $predicate")

  private def merge(left: OptimizeClauses, right: OptimizeClauses): OptimizeClauses = OptimizeClauses(
    left.full || right.full,
    left.where ++ right.where,
    left.zOrderBy ++ right.zOrderBy,
    left.dryRun || right.dryRun,
    left.options ++ right.options
  )
}
