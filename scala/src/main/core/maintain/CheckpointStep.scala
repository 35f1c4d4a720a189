package io.deltaupkeep.maintain

import io.deltaupkeep.{CountText, OptionEntry}
import io.deltaupkeep.plan.checkpoint.{CheckpointDue, CheckpointRequest, SinceCheckpoint}

import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.read.CheckpointLag

/** CHECKPOINT, if a commit would have made it due, or if the next step needs it. */
object CheckpointStep extends Step {
  override val name: String = "checkpoint"
  override val entries: Seq[OptionEntry[_]] = CheckpointRequest.entries

  override def plan(input: StepInput): StepPlan = {
    val lag = new CheckpointLag(input.table)
    val since = lag.since(input.now)
    reason(input, since, lag) match {
      case None => StepPlan.NotDue(s"${CountText.of(since.commits, "commit")} since the last one")
      case Some(reason) =>
        val checkpoint = TableCheckpoint(input.table, CheckpointRequest(input.options.of(entries)))
        StepPlan.Due(
          reason,
          () => StepResult(checkpoint = Some(checkpoint.planned())),
          () => StepResult(checkpoint = Some(checkpoint.execute()))
        )
    }
  }

  /** Why a checkpoint is due, or None. */
  def reason(input: StepInput): Option[String] = {
    val lag = new CheckpointLag(input.table)
    reason(input, lag.since(input.now), lag)
  }

  private def reason(input: StepInput, since: SinceCheckpoint, lag: CheckpointLag): Option[String] =
    CheckpointDue.reasonToMaintain(
      input.table.facts.checkpointLimits,
      since,
      CleanupStep.needsCheckpoint(input),
      lag.isNamed
    )
}
