package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.plan.checkpoint.{CheckpointPlan, CheckpointRequest, CheckpointResult, WrittenCheckpoint}

import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** One CHECKPOINT: its plan, and its execution. */
final case class TableCheckpoint(table: DeltaHandle, request: CheckpointRequest) {

  private val facts = table.facts
  private val inputs = new CheckpointInputs(table)

  lazy val plan: CheckpointPlan = new CheckpointPlanning(inputs).plan(request)

  def planned(): CheckpointResult = CheckpointResult.planned(facts.path, plan)

  def execute(): CheckpointResult =
    if (plan.isEmpty) {
      if (plan.mendsPointer) {
        table.requireWritableLog("CHECKPOINT")
        inputs.session.withActive(LastCheckpoint.info(table).foreach(inputs.pointer.write))
      }
      CheckpointResult.exists(facts.path, plan)
    } else {
      table.requireWritableLog("CHECKPOINT")
      val startedAt = System.nanoTime()
      val written = write()
      CheckpointResult.written(facts.path, plan, written, (System.nanoTime() - startedAt) / 1000000)
    }

  private[upkeep] def write(): WrittenCheckpoint = new CheckpointWriter(inputs).write(plan)
}
