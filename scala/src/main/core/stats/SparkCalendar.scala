package io.deltaupkeep.stats

import io.deltaupkeep.parquet.footer.{FileFacts, LeastTime}

import org.apache.spark.sql.catalyst.util.RebaseDateTime

/**
 * Finds files in which Spark reads dates and timestamps in the old hybrid calendar, or refuses old ones.
 * Spark decides this by the metadata of the file, or by settings if the file names no version of Spark
 * (Spark's `DataSourceUtils`). The pages of such files cannot be used in a file of the proleptic Gregorian
 * calendar, unless all their values are of times in which both calendars agree (Spark's `RebaseDateTime`).
 *
 * @param modes of the settings for the columns of the table (`spark.sql.parquet.datetimeRebaseModeInRead`)
 */
final class SparkCalendar(modes: Set[String]) extends Serializable {
  import SparkCalendar._

  /** Why the pages of a file cannot be used, or None. */
  def problemOf(file: FileFacts): Option[String] =
    problem(file.keyValues).filterNot(_ => file.leastTimes.forall(isSame))

  private def isSame(least: LeastTime): Boolean = least match {
    case LeastTime.Day(days) => days >= RebaseDateTime.lastSwitchJulianDay
    case LeastTime.Instant(micros) => micros >= RebaseDateTime.lastSwitchJulianTs
    case LeastTime.Unknown => false
  }

  /** Why the pages of a file with this metadata cannot be used if it has old dates, or None. */
  def problem(keyValues: Map[String, String]): Option[String] =
    if (LegacyKeys.exists(keyValues.contains)) Some("a file holds dates of the legacy calendar")
    else
      keyValues.get(Version) match {
        case Some(version) if isBefore(version, NewCalendarSince) =>
          Some(s"a file was written by Spark $version, which used the legacy calendar")
        case Some(_) => None
        case None =>
          modes.find(_ != Corrected).map { mode =>
            s"dates of a file without a version of Spark are read in the rebase mode $mode"
          }
      }
}

private object SparkCalendar {

  private val Corrected = "CORRECTED"
  private val Version = "org.apache.spark.version"
  private val LegacyKeys = Seq("org.apache.spark.legacyDateTime", "org.apache.spark.legacyINT96")

  /** Spark 3.0 wrote the new calendar, but INT96 timestamps only from 3.1 on. */
  private val NewCalendarSince = (3, 1)

  private def isBefore(version: String, since: (Int, Int)): Boolean = {
    val numbers = version.split("[^0-9]+").filter(_.nonEmpty).map(_.toInt)
    numbers.length < 2 || Ordering[(Int, Int)].lt((numbers(0), numbers(1)), since)
  }
}
