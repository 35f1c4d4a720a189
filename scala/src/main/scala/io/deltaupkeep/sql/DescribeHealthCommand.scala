package io.deltaupkeep.sql

import io.deltaupkeep.Options
import io.deltaupkeep.health.{HealthCheck, HealthFacts, HealthResult}
import io.deltaupkeep.optimize.{OptimizePlanner, OptimizeSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.{Intent, OptimizeTransaction, TableCleanup}

/** `DESCRIBE HEALTH t`. One row for each check. */
private[sql] final case class DescribeHealthCommand(child: LogicalPlan)
    extends UpkeepCommand(ResultSchema.health) {

  override def statement: String = "DESCRIBE HEALTH"

  override protected def clauseTexts: Seq[String] = Nil

  override protected def results(session: SparkSession): Seq[HealthResult] = {
    val table = open(session, Intent.Read)
    val none = new Options(statement, Nil, Nil)
    HealthCheck.of(
      HealthFacts(
        table.facts,
        OptimizePlanner.compact(
          new OptimizeTransaction(table, predicate = Nil).files,
          OptimizeSettings(none, table.optimizeDefaults)
        ),
        TableCleanup(table, none).plan,
        table.newestCheckpoint,
        table.lastHookOutcome
      )
    )
  }

  override def describe(session: SparkSession): Seq[String] =
    Seq("reads the snapshot and the listing of the log, and writes nothing")

  override protected def withNewChildInternal(newChild: LogicalPlan): DescribeHealthCommand =
    copy(child = newChild)
}
