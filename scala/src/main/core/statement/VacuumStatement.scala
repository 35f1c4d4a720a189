package io.deltaupkeep.statement

import scala.util.Try

import io.deltaupkeep.plan.cleanup.Verdict
import io.deltaupkeep.plan.vacuum.{VacuumResult, VacuumSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaVacuum, Intent}
import org.apache.spark.sql.delta.upkeep.vacuum.TableVacuum

private[deltaupkeep] abstract class VacuumKind
    extends StatementKind("VACUUM", Intent.Vacuum, ResultSchema.vacuum) {

  /** The rows of a dry run. */
  protected def planned(vacuum: TableVacuum): Seq[VacuumResult]

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
      override def planned(): Seq[VacuumResult] = VacuumKind.this.planned(vacuum)
      override def execute(): Seq[VacuumResult] = Seq(vacuum.execute())
      override def outcomeOf(results: Seq[VacuumResult]): Outcome =
        Outcome.doneIf(results.exists(_.filesDeleted.exists(_ > 0)))
    }
  }
}

/**
 * `VACUUM t [FULL | LITE] [USING INVENTORY i] [RETAIN n HOURS] [DRY RUN] OPTIONS (...)`. One row of totals; a dry run
 * returns a row for each file before it.
 */
private[deltaupkeep] object VacuumStatement extends VacuumKind {

  override protected def planned(vacuum: TableVacuum): Seq[VacuumResult] = vacuum.files() :+ vacuum.planned()
}

/**
 * The same without OPTIONS, in the place of a command of Delta's. As there, a dry run returns what would be deleted
 * and nothing else.
 */
private[deltaupkeep] final class PlainVacuumStatement(command: DeltaVacuum) extends VacuumKind {

  def on(target: String => LogicalPlan): UpkeepCommand =
    Statement(this, retain = command.retain, dryRun = command.dryRun, options = options).on(target)

  override def ofDelta(statement: Statement): Option[LogicalPlan => LogicalPlan] = Some(command.of)

  override protected def planned(vacuum: TableVacuum): Seq[VacuumResult] =
    vacuum.files().filter(_.verdict.contains(Verdict.Delete.name))

  private def options = command.inventory match {
    case Some(inventory) => Seq(VacuumSettings.InventoryOption.name -> inventory)
    case None => Seq(VacuumSettings.ModeOption.name -> (if (command.isLite) "log" else "full"))
  }
}
