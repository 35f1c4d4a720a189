package io.deltaupkeep.statement

import io.deltaupkeep.plan.repair.{FsckAction, FsckResult, FsckSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.repair.TableFsck
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/**
 * `FSCK REPAIR TABLE t [DRY RUN] [OPTIONS (mode, deep, pages)]`. A row for each file with a problem, and one of totals.
 */
private[deltaupkeep] object FsckStatement
    extends StatementKind("FSCK", Intent.Reorganize, ResultSchema.fsck) {

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[FsckResult] = {
    val fsck = TableFsck(table, FsckSettings(statement.optionsOf(FsckSettings.entries)))
    new Work[FsckResult] {
      override def described: Seq[String] = Seq(fsck.plan.message)
      override def planned(): Seq[FsckResult] = fsck.planned()
      override def execute(): Seq[FsckResult] = fsck.execute()
      override def outcomeOf(results: Seq[FsckResult]): Outcome =
        Outcome.doneIf(results.exists(_.action.exists(_ != FsckAction.Nothing.name)))
    }
  }
}
