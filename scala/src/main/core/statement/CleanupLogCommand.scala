package io.deltaupkeep.statement

import io.deltaupkeep.{ByteText, CountText}
import io.deltaupkeep.plan.cleanup.{CleanupResult, CleanupSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.table.Intent

/**
 * `CLEANUP LOG t [RETAIN n HOURS] [DRY RUN] [OPTIONS (granularity)]`. One row of totals; a dry run returns a
 * row for each file before it.
 *
 * @param retain hours as the user wrote them
 */
private[deltaupkeep] final case class CleanupLogCommand(
    child: LogicalPlan,
    retain: Option[String],
    dryRun: Boolean,
    options: Seq[(String, String)]
) extends UpkeepCommand(ResultSchema.cleanup) {

  override def statement: String = "CLEANUP LOG"

  override protected def clauseTexts: Seq[String] = Seq(
    retain.map(hours => s"RETAIN $hours HOURS"),
    UpkeepCommand.dryRunText(dryRun),
    UpkeepCommand.optionsText(options)
  ).flatten

  override protected def results(session: SparkSession): Seq[CleanupResult] = {
    val cleanup = prepare(session)
    if (dryRun) cleanup.files() :+ cleanup.planned() else Seq(cleanup.execute())
  }

  override def describe(session: SparkSession): Seq[String] = {
    val plan = prepare(session).plan
    plan.message +: plan.totals.map { total =>
      s"${total.verdict.name} ${CountText.of(total.files, "file")}, ${ByteText.of(total.bytes)}: ${total.reason.text}"
    }
  }

  private def prepare(session: SparkSession): TableCleanup = {
    val table = open(session, Intent.CleanLog)
    val settings = CleanupSettings(
      checked(options, CleanupSettings.entries),
      retain,
      table.facts,
      allowShorter = !table.retentionCheckEnabled
    )
    TableCleanup(table, settings, System.currentTimeMillis())
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): CleanupLogCommand =
    copy(child = newChild)
}
