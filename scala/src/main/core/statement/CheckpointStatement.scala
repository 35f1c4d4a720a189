package io.deltaupkeep.statement

import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, CheckpointResult}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/** `CHECKPOINT t [DRY RUN] [OPTIONS (policy, format, partSize, mode)]`. One result row. */
private[deltaupkeep] object CheckpointStatement
    extends StatementKind("CHECKPOINT", Intent.Checkpoint, ResultSchema.checkpoint) {

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[CheckpointResult] = {
    val checkpoint =
      TableCheckpoint(table, CheckpointRequest(statement.optionsOf(CheckpointRequest.entries)))
    new Work[CheckpointResult] {
      override def described: Seq[String] = describe(checkpoint)
      override def planned(): Seq[CheckpointResult] = Seq(checkpoint.planned())
      override def execute(): Seq[CheckpointResult] = Seq(checkpoint.execute())
      override def outcomeOf(results: Seq[CheckpointResult]): Outcome =
        Outcome.doneIf(results.exists(_.isWritten))
    }
  }

  private def describe(checkpoint: TableCheckpoint): Seq[String] = {
    val plan = checkpoint.plan
    Seq(
      s"version ${plan.version}, ${plan.policy.name} (${plan.format.name}), " +
        s"parts: ${plan.build.parts}" + plan.build.fileActions.fold("")(n => s", file actions: $n"),
      plan.reason
    )
  }
}
