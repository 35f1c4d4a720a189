package io.deltaupkeep.maintain

import io.deltaupkeep.{CountText, OptionEntry}
import io.deltaupkeep.plan.checkpoint.{CheckpointDue, CheckpointRequest}

import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.read.CheckpointLag
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** CHECKPOINT, if a commit would have made it due, or if the next step needs it. */
object CheckpointStep extends Step {
  override val name: String = "checkpoint"
  override val entries: Seq[OptionEntry[_]] = CheckpointRequest.entries

  override def plan(table: DeltaHandle, options: StepOptions, now: Long): StepPlan = {
    val lag = new CheckpointLag(table)
    val since = lag.since(now)
    val due = CheckpointDue.reasonToMaintain(
      table.facts.checkpointLimits,
      since,
      CleanupStep.needsCheckpoint(table, options, now),
      lag.isNamed
    )
    due match {
      case None => StepPlan.NotDue(s"${CountText.of(since.commits, "commit")} since the last one")
      case Some(reason) =>
        val checkpoint = TableCheckpoint(table, CheckpointRequest(options.of(entries)))
        StepPlan.Due(
          reason,
          () => StepResult(checkpoint = Some(checkpoint.planned())),
          () => StepResult(checkpoint = Some(checkpoint.execute()))
        )
    }
  }
}
