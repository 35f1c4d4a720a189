package io.deltaupkeep.statement

import io.deltaupkeep.Options
import io.deltaupkeep.health.{HealthCheck, HealthFacts, HealthResult}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.health.{FooterSampler, LogFacts, OrphanSearch}
import org.apache.spark.sql.delta.upkeep.hook.CheckpointWorker
import org.apache.spark.sql.delta.upkeep.optimize.TableOptimize
import org.apache.spark.sql.delta.upkeep.read.CheckpointLag
import org.apache.spark.sql.delta.upkeep.table.Intent

/** `DESCRIBE HEALTH t`. One row for each check. */
private[deltaupkeep] final case class DescribeHealthCommand(child: LogicalPlan)
    extends UpkeepCommand(ResultSchema.health) {

  override def statement: String = "DESCRIBE HEALTH"

  override protected def clauseTexts: Seq[String] = Nil

  override protected def results(session: SparkSession): Seq[HealthResult] = {
    val table = open(session, Intent.Read)
    val log = new LogFacts(table)
    val none = new Options(statement, Nil, Nil)
    val now = System.currentTimeMillis()
    val optimize = TableOptimize.ofAll(table, none)
    HealthCheck.of(
      HealthFacts(
        table.facts,
        optimize.plan,
        new FooterSampler(table).sample(optimize.selected.files),
        new OrphanSearch(table).run(optimize.selected),
        TableCleanup.ofTable(table, none, now).plan,
        log.newestCheckpoint,
        new CheckpointLag(table).since(now),
        log.loadCost,
        CheckpointWorker.lastOutcome(table),
        now
      )
    )
  }

  override def describe(session: SparkSession): Seq[String] =
    Seq(
      "reads the snapshot, the listings of the log and of the table's directory, and some footers; writes nothing"
    )

  override protected def withNewChildInternal(newChild: LogicalPlan): DescribeHealthCommand =
    copy(child = newChild)
}
