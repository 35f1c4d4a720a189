package io.deltaupkeep.statement

import io.deltaupkeep.maintain.{CheckpointStep, MaintainResult, Maintenance, Step, StepOptions}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.hook.CheckpointWorker
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/** `MAINTAIN t [DRY RUN] [OPTIONS (...)]`: compacts, checkpoints, vacuums and cleans up, each if it is due. */
private[deltaupkeep] object MaintainStatement
    extends StatementKind("MAINTAIN", Intent.Maintain, ResultSchema.maintain) {

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[MaintainResult] = {
    val options = StepOptions(name, statement.options)
    options.check(Maintenance.entries)
    new Work[MaintainResult] {
      override def described: Seq[String] =
        planned().map(row => s"${row.step}: ${row.status}, ${row.reason}")
      override def planned(): Seq[MaintainResult] =
        Maintenance.planned(table, options)
      override def execute(): Seq[MaintainResult] =
        Maintenance.run(options)(newestFor(table, _))
      override def outcomeOf(results: Seq[MaintainResult]): Outcome = Maintenance.outcomeOf(results)
    }
  }

  private def newestFor(table: DeltaHandle, step: Step): DeltaHandle = {
    // The commit of OPTIMIZE may have made a checkpoint due, which must not be written twice.
    if (step == CheckpointStep) CheckpointWorker.await(table)
    if (step == Maintenance.steps.head) table else table.updated(name, Intent.Maintain)
  }
}
