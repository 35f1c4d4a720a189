package io.deltaupkeep.statement

import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, CheckpointResult}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.table.Intent

/** `CHECKPOINT t [DRY RUN] [OPTIONS (policy, format, partSize, mode)]`. One result row. */
private[deltaupkeep] final case class CheckpointCommand(
    child: LogicalPlan,
    dryRun: Boolean,
    options: Seq[(String, String)]
) extends UpkeepCommand(ResultSchema.checkpoint) {

  override def statement: String = "CHECKPOINT"

  override protected def clauseTexts: Seq[String] =
    Seq(UpkeepCommand.dryRunText(dryRun), UpkeepCommand.optionsText(options)).flatten

  override protected def results(session: SparkSession): Seq[CheckpointResult] = {
    val checkpoint = prepare(session)
    Seq(if (dryRun) checkpoint.planned() else checkpoint.execute())
  }

  override def describe(session: SparkSession): Seq[String] = {
    val plan = prepare(session).plan
    Seq(
      s"version ${plan.version}, ${plan.policy.name} (${plan.format.name}), " +
        s"parts: ${plan.build.parts}" + plan.build.fileActions.fold("")(n => s", file actions: $n"),
      plan.reason
    )
  }

  private def prepare(session: SparkSession): TableCheckpoint =
    TableCheckpoint(
      open(session, Intent.Checkpoint),
      CheckpointRequest(checked(options, CheckpointRequest.entries))
    )

  override protected def withNewChildInternal(newChild: LogicalPlan): CheckpointCommand =
    copy(child = newChild)
}
