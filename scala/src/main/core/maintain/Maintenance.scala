package io.deltaupkeep.maintain

import java.util.Locale

import scala.util.control.NonFatal

import io.deltaupkeep.{OptionEntry, UpkeepException}
import io.deltaupkeep.plan.checkpoint.CheckpointResult
import io.deltaupkeep.plan.cleanup.CleanupResult
import io.deltaupkeep.plan.compact.OptimizeResult
import io.deltaupkeep.plan.vacuum.VacuumResult

import org.apache.spark.sql.delta.upkeep.metrics.{Outcome, UpkeepMetrics}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * A result row of MAINTAIN: one for each step, in the order in which they run.
 *
 * @param path   root of the table
 * @param step   `optimize`, `checkpoint`, `vacuum` or `cleanup`
 * @param due    whether there was anything to do
 * @param status name of a [[StepStatus]]
 * @param reason why it has this status, or what OPTIMIZE did
 */
final case class MaintainResult(
    path: String,
    step: String,
    due: Boolean,
    dryRun: Boolean,
    status: String,
    reason: String,
    optimize: Option[OptimizeResult],
    checkpoint: Option[CheckpointResult],
    cleanup: Option[CleanupResult],
    vacuum: Option[VacuumResult]
)

/** What became of a step. */
sealed abstract class StepStatus(val name: String, val outcome: Outcome) extends Serializable

object StepStatus {
  case object Done extends StepStatus("done", Outcome.Done)

  /** Would be done: a dry run. */
  case object Planned extends StepStatus("planned", Outcome.Planned)

  case object NotDue extends StepStatus("not due", Outcome.NothingToDo)

  /** This extension may not do it. */
  case object Skipped extends StepStatus("skipped", Outcome.Skipped)

  def of(row: MaintainResult): StepStatus =
    Seq(Done, Planned, NotDue, Skipped).find(_.name == row.status).getOrElse(
      throw new NoSuchElementException(row.status)
    )
}

/** All steps, in the order in which they run. */
object Maintenance {

  val steps: Seq[Step] = Seq(OptimizeStep, CheckpointStep, VacuumStep, CleanupStep)

  /** Names of the steps that may run. */
  val StepsOption: OptionEntry[Set[String]] = OptionEntry(
    "steps",
    "The steps that may run, separated by commas. The others are skipped. Default: all.",
    steps.map(step => s"'${step.name}'").mkString("one or more of ", ", ", "")
  ) { text =>
    val names = text.split(",", -1).map(_.trim.toLowerCase(Locale.ROOT)).toSet
    Some(names).filter(_.subsetOf(steps.map(_.name).toSet))
  }

  /** The options of all steps, and the one of MAINTAIN itself. */
  val entries: Seq[OptionEntry[_]] = steps.flatMap(_.entries) :+ StepsOption

  /** What the steps would do to a version of a table. */
  def planned(table: DeltaHandle, options: StepOptions): Seq[MaintainResult] = {
    val input = new StepInput(table, options, table.now)
    steps.map(row(_, input, dryRun = true))
  }

  /**
   * Runs what is due. After an error that leaves the table intact, the other steps still run before it is
   * thrown.
   *
   * @param tableFor the version for a step, with what the step before or another writer has committed
   */
  def run(options: StepOptions)(tableFor: Step => DeltaHandle): Seq[MaintainResult] = {
    var unfinished = Option.empty[UpkeepException]
    val rows =
      try
        steps.flatMap { step =>
          try {
            val table = tableFor(step)
            Some(row(step, new StepInput(table, options, table.now), dryRun = false))
          } catch {
            case e: UpkeepException if step.mayGoOnAfter(e) =>
              unfinished = Some(e)
              None
          }
        }
      catch {
        case NonFatal(e) if unfinished.nonEmpty =>
          unfinished.foreach(_.addSuppressed(e))
          Nil
      }
    unfinished.foreach(throw _)
    rows
  }

  /** How all steps together ended. */
  def outcomeOf(rows: Seq[MaintainResult]): Outcome = {
    val statuses = rows.map(StepStatus.of)
    if (statuses.contains(StepStatus.Done)) Outcome.Done
    else if (statuses.forall(_ == StepStatus.Skipped)) Outcome.Skipped
    else Outcome.NothingToDo
  }

  /** Plans a step, and does what is due. */
  private def row(step: Step, input: StepInput, dryRun: Boolean): MaintainResult =
    UpkeepMetrics.step(input.table, step.name).counted[MaintainResult](StepStatus.of(_).outcome) {
      uncounted(step, input, dryRun)
    }

  private def uncounted(step: Step, input: StepInput, dryRun: Boolean): MaintainResult = {
    val plan =
      if (!input.table.facts.isSwitchedOn)
        StepPlan.Skipped("deltaUpkeep.enabled is not true for this table")
      else if (!input.options.of(Seq(StepsOption)).get(StepsOption).forall(_(step.name)))
        StepPlan.Skipped(s"the option ${StepsOption.name} leaves it out")
      else step.plan(input)
    val (due, status, result) = plan match {
      case due: StepPlan.Due if dryRun => (true, StepStatus.Planned, due.planned())
      case due: StepPlan.Due => (true, StepStatus.Done, due.execute())
      case notDue: StepPlan.NotDue =>
        if (!dryRun) notDue.note()
        (false, StepStatus.NotDue, StepResult())
      case _: StepPlan.Skipped => (false, StepStatus.Skipped, StepResult())
    }
    MaintainResult(
      input.table.path,
      step.name,
      due,
      dryRun,
      status.name,
      result.done.getOrElse(plan.reason),
      result.optimize,
      result.checkpoint,
      result.cleanup,
      result.vacuum
    )
  }
}
