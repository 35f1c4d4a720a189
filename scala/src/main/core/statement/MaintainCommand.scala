package io.deltaupkeep.statement

import io.deltaupkeep.maintain.{MaintainResult, Maintenance, StepOptions}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.hook.CheckpointWorker
import org.apache.spark.sql.delta.upkeep.table.Intent

/** `MAINTAIN t [DRY RUN] [OPTIONS (...)]`: compacts, checkpoints and cleans up, each if it is due. */
private[deltaupkeep] final case class MaintainCommand(
    child: LogicalPlan,
    dryRun: Boolean,
    options: Seq[(String, String)]
) extends UpkeepCommand(ResultSchema.maintain) {

  override def statement: String = "MAINTAIN"

  override protected def clauseTexts: Seq[String] =
    Seq(UpkeepCommand.dryRunText(dryRun), UpkeepCommand.optionsText(options)).flatten

  override protected def results(session: SparkSession): Seq[MaintainResult] = run(session, dryRun)

  override def describe(session: SparkSession): Seq[String] =
    run(session, dryRun = true).map(row => s"${row.step}: ${row.status}, ${row.reason}")

  private def run(session: SparkSession, dryRun: Boolean): Seq[MaintainResult] = {
    val forSteps = StepOptions(statement, options)
    forSteps.requireKnown(Maintenance.steps.flatMap(_.entries))
    val opened = open(session, Intent.Checkpoint)
    if (dryRun) Maintenance.planned(opened, forSteps, System.currentTimeMillis())
    else
      Maintenance.run(forSteps, () => System.currentTimeMillis()) { step =>
        if (step == Maintenance.steps.head) opened
        else {
          CheckpointWorker.await(opened)
          opened.updated(statement, Intent.Checkpoint)
        }
      }
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): MaintainCommand = copy(child = newChild)
}
