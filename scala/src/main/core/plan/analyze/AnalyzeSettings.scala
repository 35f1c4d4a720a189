package io.deltaupkeep.plan.analyze

import io.deltaupkeep.{OptionEntry, Options}

/**
 * Which files an ANALYZE reads.
 *
 * @param all      whether it reads files with complete statistics too
 * @param maxBytes that one run reads
 */
final case class AnalyzeSettings(all: Boolean, maxBytes: Long)

object AnalyzeSettings {

  val ModeOption: OptionEntry[Boolean] = OptionEntry.oneOf(
    "mode",
    "'missing' reads the files whose statistics lack the number of rows, or a column that the table collects " +
      "statistics of. 'all' reads every file, such as after a writer that wrote wrong ones. Default: missing."
  )("missing" -> false, "all" -> true)

  val MaxBytesOption: OptionEntry[Long] =
    OptionEntry.bytes(
      "maxBytes",
      "Largest number of bytes that one run reads, but at least one file. With mode 'all' each run begins with the " +
        "same files, so divide the table by WHERE instead. Default: all."
    )

  val entries: Seq[OptionEntry[_]] = Seq(ModeOption, MaxBytesOption)

  def apply(options: Options): AnalyzeSettings = AnalyzeSettings(
    options.get(ModeOption).getOrElse(false),
    options.get(MaxBytesOption).getOrElse(Long.MaxValue)
  )
}
