package io.deltaupkeep.maintain

import io.deltaupkeep.{OptionEntry, Options, UpkeepException}
import io.deltaupkeep.plan.vacuum.{VacuumMode, VacuumSettings}

import org.apache.spark.sql.delta.upkeep.table.Intent
import org.apache.spark.sql.delta.upkeep.vacuum.TableVacuum

/** VACUUM with the table's own retention, if the option `vacuum` or the table's property asks for it. */
object VacuumStep extends Step {
  override val name: String = "vacuum"

  private val Property = "deltaUpkeep.vacuum"

  /** None for `off`. */
  private val ModeOption: OptionEntry[Option[VacuumMode]] = OptionEntry.oneOf[Option[VacuumMode]](
    "vacuum",
    "Whether VACUUM runs. 'log' finds files by the log, and lists directories only if commits are missing. 'full' " +
      "lists all directories, each time. 'off' leaves VACUUM out. The table property deltaUpkeep.vacuum is the " +
      "default, and without it 'off'."
  )("off" -> None, "log" -> Some(VacuumMode.Log), "full" -> Some(VacuumMode.Full))

  override val entries: Seq[OptionEntry[_]] = Seq(ModeOption)

  override def plan(input: StepInput): StepPlan = {
    val ofTable = input.table.facts.vacuum.getOrElse("off")
    input.options.of(entries).get(ModeOption).orElse(ModeOption.read(ofTable)) match {
      case None => StepPlan.Skipped(s"$Property cannot be '$ofTable': use ${ModeOption.expected}")
      case Some(None) => StepPlan.Skipped(s"$Property is off")
      case Some(Some(mode)) =>
        input.table.refusal("VACUUM", Intent.Vacuum).fold(planned(input, mode))(refusal =>
          StepPlan.Skipped(refusal.getMessage)
        )
    }
  }

  private def planned(input: StepInput, mode: VacuumMode): StepPlan = {
    val table = input.table
    val settings = VacuumSettings(
      new Options("VACUUM", Nil, VacuumSettings.entries),
      retain = None,
      table.facts,
      allowShorter = false,
      table.cleanupThreads
    )
    // Where commits are missing, as from before it was switched on, files can be found by listing only.
    val vacuum = TableVacuum(table, settings.copy(mode = Some(mode).filter(_ == VacuumMode.Full)))
    try
      if (vacuum.plan.deletions.isEmpty) StepPlan.NotDue(vacuum.plan.message)
      else
        StepPlan.Due(
          vacuum.plan.message,
          () => StepResult(vacuum = Some(vacuum.planned())),
          () => StepResult(vacuum = Some(vacuum.execute()))
        )
    catch { case e: UpkeepException if e.name == "CLONE_NOT_READABLE" => StepPlan.Skipped(e.getMessage) }
  }

  /** No version inside the retention needs what is left. */
  override def mayGoOnAfter(error: UpkeepException): Boolean =
    Set("DATA_FILE_NOT_DELETED", "FILES_ELSEWHERE")(error.name)
}
