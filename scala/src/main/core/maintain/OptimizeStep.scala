package io.deltaupkeep.maintain

import io.deltaupkeep.{CountText, OptionEntry, UpkeepException}
import io.deltaupkeep.plan.compact.{OptimizeResult, OptimizeSettings}

import org.apache.spark.sql.delta.upkeep.optimize.TableOptimize

/** OPTIMIZE of the whole table, in its own layout. */
object OptimizeStep extends Step {
  override val name: String = "optimize"
  override val entries: Seq[OptionEntry[_]] = OptimizeSettings.entries

  override def plan(input: StepInput): StepPlan =
    if (input.table.facts.catalogManaged) StepPlan.Skipped("the catalog decides on file rewrites")
    else {
      val optimize = TableOptimize.ofAll(input.table, input.options.of(entries))
      if (optimize.plan.isEmpty) StepPlan.NotDue("no files to rewrite")
      else
        StepPlan.Due(
          (s"${CountText.of(optimize.plan.files.size, "file")} to rewrite" +: optimize.plan.waits.toSeq)
            .mkString("; "),
          () => StepResult(optimize = Some(optimize.plannedByLog())),
          () => done(optimize.execute())
        )
    }

  private def done(result: OptimizeResult): StepResult = {
    val (before, after) = (result.metrics.numFilesRemoved, result.metrics.numFilesAdded)
    val done =
      if (before == 0) "no files were rewritten" else s"rewrote ${CountText.of(before, "file")} into $after"
    StepResult(optimize = Some(result), done = Some(done))
  }

  /** Some files were left alone, or all. */
  override def mayGoOnAfter(error: UpkeepException): Boolean =
    Set("REWRITE_MISMATCH", "OPTIMIZE_CONFLICT", "INVALID_SORT_ORDER")(error.name)
}
