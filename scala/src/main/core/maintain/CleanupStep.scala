package io.deltaupkeep.maintain

import io.deltaupkeep.{OptionEntry, TableFacts}
import io.deltaupkeep.plan.cleanup.CleanupSettings

/** CLEANUP LOG with the table's own retention. */
object CleanupStep extends Step {
  override val name: String = "cleanup"
  override val entries: Seq[OptionEntry[_]] = CleanupSettings.entries

  override def plan(input: StepInput): StepPlan =
    refusal(input.table.facts).getOrElse {
      val cleanup = input.cleanup
      if (cleanup.plan.isEmpty) StepPlan.NotDue(cleanup.plan.message)
      else
        StepPlan.Due(
          cleanup.plan.message,
          () => StepResult(cleanup = Some(cleanup.planned())),
          () => StepResult(cleanup = Some(cleanup.execute()))
        )
    }

  /** Whether expired commits cannot be deleted without a newer checkpoint. */
  private[maintain] def needsCheckpoint(input: StepInput): Boolean =
    refusal(input.table.facts).isEmpty && input.cleanup.plan.needsCheckpoint

  /** Why the log is not cleaned up unless a user asks for it. */
  def refusal(table: TableFacts): Option[StepPlan.Skipped] =
    if (table.catalogManaged) Some(StepPlan.Skipped("the catalog decides on log cleanup"))
    else if (!table.logCleanupEnabled)
      Some(StepPlan.Skipped("delta.enableExpiredLogCleanup is false"))
    else None
}
