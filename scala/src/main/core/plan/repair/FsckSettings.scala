package io.deltaupkeep.plan.repair

import io.deltaupkeep.{OptionEntry, Options}

/** What FSCK does about what it finds. */
sealed abstract class FsckMode(val name: String) extends Serializable

object FsckMode {

  /** Only reports. */
  case object Check extends FsckMode("check")

  /** Removes the entries of files that are gone. */
  case object Missing extends FsckMode("missing")

  /** Brings rows back by undoing commits that rewrote files. */
  case object Restore extends FsckMode("restore")
}

/**
 * What an FSCK looks at, and what it does.
 *
 * @param deep  whether it also reads footers and deletion vectors
 * @param pages whether it also reads all pages of data files
 */
final case class FsckSettings(mode: FsckMode, deep: Boolean, pages: Boolean = false)

object FsckSettings {

  val ModeOption: OptionEntry[FsckMode] = OptionEntry.oneOf[FsckMode](
    "mode",
    "'check' only reports. 'missing' removes the entries of files that are gone from the log, unless 'restore' could " +
      "bring their rows back. 'restore' undoes an OPTIMIZE whose new files are gone or damaged, if the files that it " +
      "replaced still exist, and removes nothing else. Default: missing."
  )("check" -> FsckMode.Check, "missing" -> FsckMode.Missing, "restore" -> FsckMode.Restore)

  val DeepOption: OptionEntry[Boolean] = OptionEntry.flag(
    "deep",
    "Also read the footer of every data file, and every deletion vector. Default: false."
  )

  val PagesOption: OptionEntry[Boolean] = OptionEntry.flag(
    "pages",
    "Also read every page of every data file: its header, its checksum if it has one, and whether it can be " +
      "decompressed. Reads the whole table, and includes deep. Default: false."
  )

  val entries: Seq[OptionEntry[_]] = Seq(ModeOption, DeepOption, PagesOption)

  def apply(options: Options): FsckSettings = {
    val pages = options.get(PagesOption).getOrElse(false)
    FsckSettings(
      options.get(ModeOption).getOrElse(FsckMode.Missing),
      deep = pages || options.get(DeepOption).getOrElse(false),
      pages
    )
  }
}
