package io.deltaupkeep.plan.vacuum

import java.util.concurrent.TimeUnit

import scala.util.Try

import io.deltaupkeep.{OptionEntry, Options, TableFacts, UpkeepErrors}

/** Where VACUUM looks for files. */
sealed abstract class VacuumMode(val name: String) extends Serializable

object VacuumMode {

  /** In the commits that the last VACUUM has not seen. */
  case object Log extends VacuumMode("log")

  /** In the directories of the table. */
  case object Full extends VacuumMode("full")

  /** In an inventory of the store. No option asks for it by this name. */
  case object Inventory extends VacuumMode("inventory")
}

/**
 * What a VACUUM may delete.
 *
 * @param askedMs  milliseconds that RETAIN asks for; None for the table's own retention
 * @param mode     None if the log decides
 * @param maxFiles that one run deletes
 * @param maxBytes that one run deletes
 * @param threads  that list and delete
 * @param keepFor  names of other tables, whose files stay
 * @param inventory a table, or a query in parentheses, that has the files; None to look for them
 */
final case class VacuumSettings(
    askedMs: Option[Long],
    mode: Option[VacuumMode],
    maxFiles: Long,
    maxBytes: Long,
    threads: Int,
    keepFor: Seq[String] = Nil,
    inventory: Option[String] = None
)

object VacuumSettings {

  val ModeOption: OptionEntry[Option[VacuumMode]] = OptionEntry.oneOf[Option[VacuumMode]](
    "mode",
    "'log' finds files in the commits that the last VACUUM has not seen, without listing a directory. 'full' lists " +
      "all directories, and also finds files that failed writers left. 'auto' is 'log' if the log still has the " +
      "commits, or what CLEANUP LOG wrote down of them, and otherwise 'full'. Default: auto."
  )("auto" -> None, "log" -> Some(VacuumMode.Log), "full" -> Some(VacuumMode.Full))

  val MaxFilesOption: OptionEntry[Long] =
    OptionEntry.positive(
      "maxFiles",
      "Largest number of files that one run deletes, the oldest first. Default: all."
    )

  val MaxBytesOption: OptionEntry[Long] =
    OptionEntry.bytes(
      "maxBytes",
      "Largest number of bytes that one run deletes, the oldest first, but at least one file. Default: all."
    )

  val ThreadsOption: OptionEntry[Long] = OptionEntry.positive(
    "threads",
    "How many directories are listed, and files deleted, at the same time. Bulk deletion uses one eighth as many " +
      "calls. Default: spark.deltaUpkeep.cleanup.threads (32)."
  )

  val KeepForOption: OptionEntry[Seq[String]] = OptionEntry(
    "keepFor",
    "Shallow clones of the table. Files that their logs name stay. Added to those of the table property " +
      "deltaUpkeep.vacuum.keepFor. Default: none.",
    "names of tables with commas between them, such as 'dev.sales.orders, delta.`/clones/orders`'"
  )(text => Some(tablesIn(text)))

  val InventoryOption: OptionEntry[String] = OptionEntry(
    "inventory",
    "Files are looked for in it, and nothing is listed. Needs the columns path, length, isDir and modificationTime, as Delta's " +
      "USING INVENTORY. Directories stay. Default: none.",
    "a table, or a query in parentheses"
  )(text => Some(text).filter(_.trim.nonEmpty))

  /** Those of the statement. */
  val entries: Seq[OptionEntry[_]] =
    Seq(ModeOption, MaxFilesOption, MaxBytesOption, ThreadsOption, KeepForOption, InventoryOption)

  /** Commas inside backquotes belong to a name. */
  private def tablesIn(text: String): Seq[String] =
    text.split(",(?=(?:[^`]*`[^`]*`)*[^`]*$)").toSeq.map(_.trim).filter(_.nonEmpty)

  private val HourMs = TimeUnit.HOURS.toMillis(1)

  /**
   * @param retain       hours as the user wrote them, None for the table's own retention
   * @param allowShorter whether the retention may be shorter than the table's own
   * @param threads      if no option says how many
   * @throws io.deltaupkeep.UpkeepException `NEGATIVE_RETENTION`, `RETENTION_TOO_SHORT`, `INVALID_OPTION`
   */
  def apply(
      options: Options,
      retain: Option[String],
      table: TableFacts,
      allowShorter: Boolean,
      threads: Int
  ): VacuumSettings = VacuumSettings(
    retain.map(hours => retention(hours, table, allowShorter)),
    modeOf(options),
    options.get(MaxFilesOption).getOrElse(Long.MaxValue),
    options.get(MaxBytesOption).getOrElse(Long.MaxValue),
    options.get(ThreadsOption).fold(threads)(_.min(Int.MaxValue.toLong).toInt),
    (table.vacuumKeepFor.toSeq.flatMap(tablesIn) ++ options.get(KeepForOption).toSeq.flatten).distinct,
    options.get(InventoryOption)
  )

  private def modeOf(options: Options): Option[VacuumMode] = {
    val asked = options.get(ModeOption).flatten
    val inventory = options.get(InventoryOption)
    if (asked.contains(VacuumMode.Log) && inventory.nonEmpty)
      throw UpkeepErrors.invalidOption("VACUUM", ModeOption.name, "log", "'full' or 'auto' with an inventory")
    inventory.fold(asked)(_ => Some(VacuumMode.Inventory))
  }

  /** Delta rounds to whole hours. Here a part of an hour is never cut off. */
  private def retention(hours: String, table: TableFacts, allowShorter: Boolean): Long = {
    val asked = Try(BigDecimal(hours)).toOption.filter(_ >= 0).getOrElse {
      throw UpkeepErrors.negativeRetention("VACUUM", hours)
    }
    val rounded = asked.min(BigDecimal(Long.MaxValue / HourMs)).setScale(0, BigDecimal.RoundingMode.CEILING)
    val milliseconds = rounded.toLong * HourMs
    if (milliseconds < table.deletedFileRetentionMs && !allowShorter)
      throw UpkeepErrors.retentionTooShort(
        "VACUUM",
        "the files that versions",
        "delta.deletedFileRetentionDuration",
        table.name,
        hours,
        (BigDecimal(table.deletedFileRetentionMs) / HourMs).toString
      )
    milliseconds
  }
}
