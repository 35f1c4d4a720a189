package io.deltaupkeep.statement

import io.deltaupkeep.plan.cluster.LayoutChoice
import io.deltaupkeep.plan.compact.{Layout, OptimizeResult, OptimizeSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeDefaults, OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaOptimize, DeltaPurge, DeltaRefusals, Intent}

/**
 * `OPTIMIZE t [FULL] [WHERE p] [ZORDER BY (c, ...) | ORDER BY (c [DESC], ...)] [DRY RUN] [OPTIONS (k = v, ...)]`. One result
 * row.
 */
private[deltaupkeep] object OptimizeStatement
    extends StatementKind("OPTIMIZE", Intent.Reorganize, ResultSchema.optimize) {

  override def ofDelta(statement: Statement): Option[LogicalPlan => LogicalPlan] =
    Option.when(statement.isBare && statement.orderBy.isEmpty)(DeltaOptimize(
      _,
      statement.where,
      statement.columns,
      statement.full
    ))

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[OptimizeResult] = {
    val options = statement.optionsOf(OptimizeSettings.entries)
    val settings = OptimizeSettings(options, OptimizeDefaults.of(table))
    val request = new DeltaRefusals(table, statement.columns).asCauses {
      val layout = new LayoutChoice(table.facts, session.sessionState.conf.resolver)
        .of(statement.full, statement.columns, statement.orderBy)
      OptimizeRequest(layout, new WherePredicate(session, table.facts, table.schema).ofRows(statement.where))
    }
    new OptimizeWork(TableOptimize(table, request, settings))
  }
}

/** Delta's `REORG TABLE t [WHERE p] APPLY (PURGE)`. One result row. */
private[deltaupkeep] object ReorgStatement
    extends StatementKind("REORG", Intent.Reorganize, ResultSchema.optimize) {

  override def ofDelta(statement: Statement): Option[LogicalPlan => LogicalPlan] =
    Option.when(statement.isBare)(DeltaPurge(_, statement.where))

  override def fixedClause: Option[String] = Some("APPLY (PURGE)")

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[OptimizeResult] = {
    val predicate = new DeltaRefusals(table, Nil).asCauses {
      new WherePredicate(session, table.facts, table.schema).ofPartitions(statement.where)
    }
    val layout = Layout.Purge(oneByOne = table.facts.clusteringColumns.nonEmpty)
    new OptimizeWork(TableOptimize(table, OptimizeRequest(layout, predicate), OptimizeDefaults.of(table)))
  }
}

private final class OptimizeWork(optimize: TableOptimize) extends Work[OptimizeResult] {
  override def described: Seq[String] = optimize.describe
  override def planned(): Seq[OptimizeResult] = Seq(optimize.planned())
  override def execute(): Seq[OptimizeResult] = Seq(optimize.execute())
  override def outcomeOf(results: Seq[OptimizeResult]): Outcome =
    Outcome.doneIf(results.exists(_.version.nonEmpty))
}
