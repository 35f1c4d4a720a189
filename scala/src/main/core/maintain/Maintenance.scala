package io.deltaupkeep.maintain

import scala.util.control.NonFatal

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.plan.checkpoint.CheckpointResult
import io.deltaupkeep.plan.cleanup.CleanupResult
import io.deltaupkeep.plan.compact.OptimizeResult

import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * A result row of MAINTAIN: one for each step, in the order in which they run.
 *
 * @param path   root of the table
 * @param step   `optimize`, `checkpoint` or `cleanup`
 * @param due    whether there was anything to do
 * @param status `done`, `planned` (a dry run), `not due`, or `skipped`: this extension may not do it
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
    cleanup: Option[CleanupResult]
)

/** All steps, in the order in which they run. */
object Maintenance {

  val steps: Seq[Step] = Seq(OptimizeStep, CheckpointStep, CleanupStep)

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

  /** Plans a step, and does what is due. */
  private def row(step: Step, input: StepInput, dryRun: Boolean): MaintainResult = {
    val plan =
      if (input.table.facts.isSwitchedOn) step.plan(input)
      else StepPlan.Skipped("deltaUpkeep.enabled is not true for this table")
    val (due, status, result) = plan match {
      case due: StepPlan.Due if dryRun => (true, "planned", due.planned())
      case due: StepPlan.Due => (true, "done", due.execute())
      case _: StepPlan.NotDue => (false, "not due", StepResult())
      case _: StepPlan.Skipped => (false, "skipped", StepResult())
    }
    MaintainResult(
      input.table.path,
      step.name,
      due,
      dryRun,
      status,
      result.done.getOrElse(plan.reason),
      result.optimize,
      result.checkpoint,
      result.cleanup
    )
  }
}
