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

  private val FullEveryOption: OptionEntry[Long] = OptionEntry.duration(
    "vacuumFullEvery",
    "VACUUM lists all directories once in this time, and finds files by the log in between. The table property " +
      "deltaUpkeep.vacuum.fullEvery is the default, and without it 'full' lists them each time, and 'log' never."
  )

  override val entries: Seq[OptionEntry[_]] = Seq(ModeOption, FullEveryOption)

  override def plan(input: StepInput): StepPlan = {
    val facts = input.table.facts
    val plan = for {
      asked <- setting(input, ModeOption, Property, facts.vacuum.orElse(Some("off")))
      mode <- asked.flatten.toRight(s"$Property is off")
      fullEvery <- setting(input, FullEveryOption, s"$Property.fullEvery", facts.vacuumFullEvery)
      _ <- input.table.refusal("VACUUM", Intent.Vacuum).map(_.getMessage).toLeft(())
    } yield planned(input, mode, fullEvery)
    plan.fold(StepPlan.Skipped, identity)
  }

  /** What the option says, or else the table's property; or why that cannot be used. */
  private def setting[T](
      input: StepInput,
      option: OptionEntry[T],
      property: String,
      ofTable: Option[String]
  ): Either[String, Option[T]] =
    input.options.of(entries).get(option) match {
      case None =>
        ofTable.fold[Either[String, Option[T]]](Right(None)) { text =>
          option.read(text).map(Some(_)).toRight(s"$property cannot be '$text': use ${option.expected}")
        }
      case given => Right(given)
    }

  private def planned(input: StepInput, mode: VacuumMode, fullEvery: Option[Long]): StepPlan = {
    val table = input.table
    val settings = VacuumSettings(
      new Options("VACUUM", Nil, VacuumSettings.entries),
      retain = None,
      table.facts,
      allowShorter = false,
      table.cleanupThreads
    )
    // Where commits are missing, as from before it was switched on, files can be found by listing only.
    val byLog = TableVacuum(table, settings)
    val isListingDue = fullEvery.exists(byLog.isListingDue)
    val lists = if (fullEvery.isEmpty) mode == VacuumMode.Full else isListingDue
    val vacuum = if (lists) TableVacuum(table, settings.copy(mode = Some(VacuumMode.Full))) else byLog
    try
      // What was listed is noted even if nothing was found.
      if (vacuum.plan.deletions.isEmpty && !isListingDue)
        StepPlan.NotDue(vacuum.plan.message, () => vacuum.note())
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
