package io.deltaupkeep.sql

import io.deltaupkeep.sql.parser.UpkeepSqlParser
import io.deltaupkeep.statement._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.upkeep.table._

/**
 * Replaces Delta's OPTIMIZE, its REORG for PURGE and its VACUUM with ours. A plan has Delta's command if Delta's parser
 * saw the text first, or if a method of `DeltaTable` built it.
 *
 * Delta's grammar takes everything after WHERE as the predicate, so it may contain DRY RUN and OPTIONS. Our
 * grammar parses the text again.
 */
private[sql] final case class ReplaceDeltaStatements(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = if (Switch.isOn(session)) replaced(plan) else plan

  private def replaced(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case DeltaOptimize(child, predicates, zOrderBy, full) if !Switch.isOffNow(child) =>
      val plain = Statement(OptimizeStatement, full, columns = zOrderBy)
      predicates.foldLeft(plain)((statement, text) => merge(statement, parsed(text))).on(targetOf(child, _))
    case DeltaPurge(child, predicates) if !Switch.isOffNow(child) =>
      Statement(ReorgStatement, where = predicates).on(targetOf(child, _))
    case DeltaVacuum(vacuum) if !Switch.isOffNow(vacuum.table) =>
      new PlainVacuumStatement(vacuum).on(targetOf(vacuum.table, _))
  }

  private def targetOf(child: LogicalPlan, statement: String): LogicalPlan = child match {
    case table: UnresolvedTable => UnresolvedTarget.name(statement, table.multipartIdentifier)
    case DeltaPath(path, options) => UnresolvedTarget.path(statement, path, options)
    case resolved => resolved
  }

  private def parsed(predicate: String): Statement =
    UpkeepSqlParser.parseOptimize(session.sessionState.sqlParser, s"WHERE $predicate")

  private def merge(left: Statement, right: Statement): Statement = left.copy(
    full = left.full || right.full,
    where = left.where ++ right.where,
    columns = left.columns ++ right.columns,
    orderBy = left.orderBy ++ right.orderBy,
    dryRun = left.dryRun || right.dryRun,
    options = left.options ++ right.options
  )
}
