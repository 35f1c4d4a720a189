package io.deltaupkeep.statement

import io.deltaupkeep.{ByteText, CountText}
import io.deltaupkeep.plan.cleanup.{CleanupPlan, CleanupResult, CleanupSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/**
 * `CLEANUP LOG t [RETAIN n HOURS] [DRY RUN] [OPTIONS (granularity)]`. One row of totals; a dry run returns a
 * row for each file before it.
 */
private[deltaupkeep] object CleanupLogStatement
    extends StatementKind("CLEANUP LOG", Intent.CleanLog, ResultSchema.cleanup) {

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[CleanupResult] = {
    val settings = CleanupSettings(
      statement.optionsOf(CleanupSettings.entries),
      statement.retain,
      table.facts,
      allowShorter = !table.retentionCheckEnabled
    )
    val cleanup = TableCleanup(table, settings, table.now)
    new Work[CleanupResult] {
      override def described: Seq[String] = describe(cleanup.plan)
      override def planned(): Seq[CleanupResult] = cleanup.files() :+ cleanup.planned()
      override def execute(): Seq[CleanupResult] = Seq(cleanup.execute())
      override def outcomeOf(results: Seq[CleanupResult]): Outcome =
        Outcome.doneIf(results.exists(_.filesDeleted.exists(_ > 0)))
    }
  }

  private def describe(plan: CleanupPlan): Seq[String] =
    plan.message +: plan.totals.map { total =>
      s"${total.verdict.name} ${CountText.of(total.files, "file")}, ${ByteText.of(total.bytes)}: ${total.reason.text}"
    }
}
