package io.deltaupkeep.statement

import scala.util.Try

import io.deltaupkeep.plan.vacuum.{VacuumResult, VacuumSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}
import org.apache.spark.sql.delta.upkeep.vacuum.TableVacuum

/**
 * `VACUUM t [FULL | LITE] [USING INVENTORY i] [RETAIN n HOURS] [DRY RUN] OPTIONS (...)`. One row of totals; a dry run
 * returns a row for each file before it. Without OPTIONS, the statement is Delta's.
 */
private[deltaupkeep] object VacuumStatement
    extends StatementKind("VACUUM", Intent.Vacuum, ResultSchema.vacuum) {

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[VacuumResult] = {
    val settings = VacuumSettings(
      statement.optionsOf(VacuumSettings.entries),
      statement.retain.filterNot(hours =>
        table.ignoresRetention && Try(BigDecimal(hours)).toOption.exists(_ > 0)
      ),
      table.facts,
      allowShorter = !table.retentionCheckEnabled,
      table.cleanupThreads
    )
    val vacuum = TableVacuum(table, settings)
    new Work[VacuumResult] {
      override def described: Seq[String] = Seq(vacuum.plan.message)
      override def planned(): Seq[VacuumResult] = vacuum.files() :+ vacuum.planned()
      override def execute(): Seq[VacuumResult] = Seq(vacuum.execute())
      override def outcomeOf(results: Seq[VacuumResult]): Outcome =
        Outcome.doneIf(results.exists(_.filesDeleted.exists(_ > 0)))
    }
  }
}
