package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.plan.checkpoint.{CheckpointPlan, CheckpointRequest, CheckpointResult, WrittenCheckpoint}

import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.read.CheckpointLag
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * One CHECKPOINT: its plan, and its execution.
 *
 * @param commits since the last checkpoint, if they are known better than from the version of the table
 * @param pages   whether the pages of an existing checkpoint are read too, to find out whether it is whole
 */
final case class TableCheckpoint(
    table: DeltaHandle,
    request: CheckpointRequest,
    commits: Option[Long] = None,
    pages: Boolean = false
) {

  private val facts = table.facts
  private val inputs = new CheckpointInputs(table, pages)

  lazy val plan: CheckpointPlan = new CheckpointPlanning(inputs).plan(request)

  def planned(): CheckpointResult = CheckpointResult.planned(facts.path, plan)

  def execute(): CheckpointResult = {
    // What a plan refuses is no failed checkpoint.
    plan
    UpkeepMetrics.of(table).checkpoint.counted {
      commits.getOrElse(new CheckpointLag(table).since(table.now).commits)
    }(run())
  }

  private def run(): CheckpointResult =
    if (plan.isEmpty) {
      if (plan.mendsPointer) {
        table.requireWritableLog("CHECKPOINT")
        point(table.snapshot.version)
      }
      CheckpointResult.exists(facts.path, plan)
    } else {
      table.requireWritableLog("CHECKPOINT")
      val startedAt = System.nanoTime()
      val written = write()
      CheckpointResult.written(facts.path, plan, written, (System.nanoTime() - startedAt) / 1000000)
    }

  /** Has `_last_checkpoint` name the existing checkpoint of a version, unless it names a newer one. */
  private[upkeep] def point(version: Long): Unit =
    inputs.session.withActive(LastCheckpoint.info(table, version).foreach(inputs.pointer.write))

  private[upkeep] def write(): WrittenCheckpoint = new CheckpointWriter(inputs).write(plan)
}
