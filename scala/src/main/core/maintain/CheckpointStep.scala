package io.deltaupkeep.maintain

import io.deltaupkeep.{CountText, OptionEntry}
import io.deltaupkeep.plan.checkpoint.{CheckpointDue, CheckpointRequest}

import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.read.CheckpointLag

/** CHECKPOINT, if a commit would have made it due, or if the next step needs it. */
object CheckpointStep extends Step {
  override val name: String = "checkpoint"
  override val entries: Seq[OptionEntry[_]] = CheckpointRequest.entries

  override def plan(input: StepInput): StepPlan =
    reason(input) match {
      case None => StepPlan.NotDue(s"${CountText.of(input.since.commits, "commit")} since the last one")
      case Some(reason) =>
        val checkpoint = TableCheckpoint(input.table, CheckpointRequest(input.options.of(entries)))
        StepPlan.Due(
          reason,
          () => StepResult(checkpoint = Some(checkpoint.planned())),
          () => StepResult(checkpoint = Some(checkpoint.execute()))
        )
    }

  /** Why a checkpoint is due, or None. */
  def reason(input: StepInput): Option[String] =
    CheckpointDue.reasonToMaintain(
      input.table.facts.checkpointLimits,
      input.since,
      CleanupStep.needsCheckpoint(input),
      new CheckpointLag(input.table).isNamed
    )
}
