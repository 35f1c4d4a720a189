package io.deltaupkeep.maintain

import io.deltaupkeep.{OptionEntry, TableFacts}
import io.deltaupkeep.plan.cleanup.CleanupSettings

import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** CLEANUP LOG with the table's own retention. */
object CleanupStep extends Step {
  override val name: String = "cleanup"
  override val entries: Seq[OptionEntry[_]] = CleanupSettings.entries

  override def plan(table: DeltaHandle, options: StepOptions, now: Long): StepPlan =
    refusal(table.facts).getOrElse {
      val cleanup = cleanupOf(table, options, now)
      if (cleanup.plan.isEmpty) StepPlan.NotDue(cleanup.plan.message)
      else
        StepPlan.Due(
          cleanup.plan.message,
          () => StepResult(cleanup = Some(cleanup.planned())),
          () => StepResult(cleanup = Some(cleanup.execute()))
        )
    }

  /** Whether expired commits cannot be deleted without a newer checkpoint. */
  private[maintain] def needsCheckpoint(table: DeltaHandle, options: StepOptions, now: Long): Boolean =
    refusal(table.facts).isEmpty && cleanupOf(table, options, now).plan.needsCheckpoint

  /** Why the log is not cleaned up unless a user asks for it. */
  private def refusal(table: TableFacts): Option[StepPlan] =
    if (table.catalogManaged) Some(StepPlan.Skipped("the catalog decides on log cleanup"))
    else if (!table.logCleanupEnabled)
      Some(StepPlan.Skipped("delta.enableExpiredLogCleanup is false"))
    else None

  private def cleanupOf(table: DeltaHandle, options: StepOptions, now: Long): TableCleanup =
    TableCleanup.ofTable(table, options.of(entries), now)
}
