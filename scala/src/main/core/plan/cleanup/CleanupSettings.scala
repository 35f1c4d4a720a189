package io.deltaupkeep.plan.cleanup

import scala.util.Try

import io.deltaupkeep.{OptionEntry, Options, TableFacts, UpkeepErrors}

/**
 * How much of the log has to be kept: milliseconds before now, and the unit to which the cutoff is rounded
 * down.
 */
final case class CleanupSettings(retentionMs: Long, granularity: Granularity)

object CleanupSettings {
  val GranularityOption: OptionEntry[Granularity] = OptionEntry.oneOf[Granularity](
    "granularity",
    "The cutoff is rounded down to this unit, in UTC. Default: day, or minute if RETAIN is given, as in " +
      "Delta."
  )("day" -> Granularity.Day, "hour" -> Granularity.Hour, "minute" -> Granularity.Minute)
  val entries: Seq[OptionEntry[_]] = Seq(GranularityOption)

  private val HourMs = 3600000L

  /**
   * @param retain       hours as the user wrote them, None for the table's own retention
   * @param allowShorter whether the retention may be shorter than the table's own
   * @throws io.deltaupkeep.UpkeepException `NEGATIVE_RETENTION`, `RETENTION_TOO_SHORT`
   */
  def apply(
      options: Options,
      retain: Option[String],
      table: TableFacts,
      allowShorter: Boolean
  ): CleanupSettings = {
    val asked = retain.map { hours =>
      // Python has numbers that are none, such as nan.
      val milliseconds =
        Try(BigDecimal(hours) * HourMs).toOption.filter(_ >= 0).getOrElse(
          throw UpkeepErrors.negativeRetention("CLEANUP LOG", hours)
        )
      if (milliseconds < table.logRetentionMs && !allowShorter)
        throw UpkeepErrors.retentionTooShort(
          "CLEANUP LOG",
          "the log",
          "delta.logRetentionDuration",
          table.name,
          hours,
          (BigDecimal(table.logRetentionMs) / HourMs).toString
        )
      milliseconds.min(BigDecimal(Long.MaxValue)).toLong
    }
    val granularity = if (retain.isEmpty) Granularity.Day else Granularity.Minute
    CleanupSettings(
      asked.getOrElse(table.logRetentionMs),
      options.get(GranularityOption).getOrElse(granularity)
    )
  }
}
