package io.deltaupkeep.stats

import java.time.{Instant, LocalDate}

import io.deltaupkeep.parquet.footer.{FileFacts, LeastTime}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class SparkCalendarSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val calendar = new SparkCalendar(Set("EXCEPTION"))

  private def file(keys: Map[String, String], least: LeastTime*): FileFacts = new FileFacts {
    override def keyValues: Map[String, String] = keys
    override def leastTimes: Seq[LeastTime] = least
  }

  private def day(text: String) = LeastTime.Day(LocalDate.parse(text).toEpochDay)

  private def instant(text: String) = LeastTime.Instant(Instant.parse(text).toEpochMilli * 1000)

  private val legacy = Map("org.apache.spark.legacyDateTime" -> "", "org.apache.spark.version" -> "3.5.6")
  private val old = Map("org.apache.spark.version" -> "2.4.8")
  private val current = Map("org.apache.spark.version" -> "3.5.6")

  test("pages are taken where both calendars agree") {
    val cases = Table(
      ("metadata", "earliest values of the chunks", "taken"),
      (current, Seq(day("0001-01-01")), true),
      (legacy, Seq(day("1582-10-15")), true),
      (legacy, Seq(day("1582-10-14")), false),
      (old, Seq(day("1582-10-15"), day("1970-01-01")), true),
      (old, Seq(day("1970-01-01"), day("1582-10-14")), false),
      (legacy, Seq(instant("1900-01-01T00:00:00Z")), true),
      (legacy, Seq(instant("1899-12-31T23:59:59Z")), false),
      (Map.empty[String, String], Seq(day("2026-01-01")), true),
      (Map.empty[String, String], Seq(day("1500-01-01")), false),
      (legacy, Seq(day("2026-01-01"), LeastTime.Unknown), false),
      (legacy, Nil, true)
    )
    forAll(cases)((keys, least, taken) => assert(calendar.problemOf(file(keys, least: _*)).isEmpty == taken))
  }
}
