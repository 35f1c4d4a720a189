package io.deltaupkeep.maintain

import io.deltaupkeep.{OptionEntry, Options, UpkeepException}
import io.deltaupkeep.plan.checkpoint.{CheckpointResult, SinceCheckpoint}
import io.deltaupkeep.plan.cleanup.{CleanupResult, CleanupSettings}
import io.deltaupkeep.plan.compact.OptimizeResult
import io.deltaupkeep.plan.vacuum.VacuumResult

import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.read.CheckpointLag
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** One thing that maintenance does to a table if it is due. */
trait Step {

  /** As the rows of MAINTAIN show it. */
  def name: String

  def entries: Seq[OptionEntry[_]]

  /** What there is to do in a version of a table. */
  def plan(input: StepInput): StepPlan

  /** Whether an error has left the table intact, so that later steps still run. */
  def mayGoOnAfter(error: UpkeepException): Boolean = false
}

/**
 * A version of a table, and what is known of it by more than one step.
 *
 * @param now in milliseconds since the epoch
 */
final class StepInput(val table: DeltaHandle, val options: StepOptions, val now: Long) {

  /** CLEANUP LOG with the table's own retention. */
  lazy val cleanup: TableCleanup = TableCleanup.ofTable(table, options.of(CleanupSettings.entries), now)

  /** What was added since the last checkpoint. */
  lazy val since: SinceCheckpoint = new CheckpointLag(table).since(now)
}

/** Options for several steps, each of which takes those that it knows. */
final case class StepOptions(statement: String, pairs: Seq[(String, String)] = Nil) {

  def of(entries: Seq[OptionEntry[_]]): Options =
    new Options(
      statement,
      pairs.filter { case (name, _) => entries.exists(_.name.equalsIgnoreCase(name)) },
      entries
    )

  /**
   * Reads all of them before the first step runs.
   *
   * @throws io.deltaupkeep.UpkeepException `UNKNOWN_OPTION`, `DUPLICATE_OPTION`, `INVALID_OPTION`
   */
  def check(entries: Seq[OptionEntry[_]]): Unit = {
    val options = new Options(statement, pairs, entries)
    entries.foreach(options.get(_))
  }
}

/** What a step has to do, and why. */
sealed trait StepPlan {
  def reason: String
}

object StepPlan {

  /** This extension may not do it. */
  final case class Skipped(reason: String) extends StepPlan

  /** @param note what is left for later runs, outside a dry run */
  final case class NotDue(reason: String, note: () => Unit = () => ()) extends StepPlan

  /**
   * @param planned what would be done, for a dry run
   * @param execute does what was planned
   */
  final case class Due(reason: String, planned: () => StepResult, execute: () => StepResult) extends StepPlan
}

/**
 * The result of the one step that ran.
 *
 * @param done what it did, if that differs from the reason of its plan
 */
final case class StepResult(
    optimize: Option[OptimizeResult] = None,
    checkpoint: Option[CheckpointResult] = None,
    cleanup: Option[CleanupResult] = None,
    vacuum: Option[VacuumResult] = None,
    done: Option[String] = None
)
