package org.apache.spark.sql.delta.upkeep.spark

import java.time.ZoneOffset

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types.{Decimal, DecimalType}
import org.apache.spark.unsafe.types.UTF8String

class LoggedTextProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** The text is a part of a buffer. */
  private def in(text: String)(read: LoggedText.Read): Long =
    read(s"12$text.3".toCharArray, 2, text.length)

  private def time(text: String): Long = in(text)(LoggedText.time(_, _, _))
  private def day(text: String): Long = in(text)(LoggedText.day(_, _, _))
  private def unscaled(text: String, to: DecimalType): Long = in(text)(LoggedText.unscaled(_, _, _, to))

  private val days = Gen.zip(
    Gen.oneOf(Gen.choose(0, 9999), Gen.choose(1890, 2100)),
    Gen.choose(0, 13),
    Gen.choose(0, 32)
  )
  private val times = Gen.zip(Gen.choose(0, 24), Gen.choose(0, 60), Gen.choose(0, 60), Gen.choose(0, 999))

  private val offsets = Gen.oneOf(
    Gen.const("Z"),
    Gen.zip(Gen.oneOf("+", "-"), Gen.choose(0, 19), Gen.choose(0, 60)).map { case (sign, hours, minutes) =>
      f"$sign$hours%02d:$minutes%02d"
    }
  )

  test("a timestamp is Spark's, and unknown where Spark finds none") {
    forAll(days, times, offsets, minSuccessful(2000)) {
      case ((year, month, day), (hour, minute, second, milli), offset) =>
        val local = f"$year%04d-$month%02d-$day%02dT$hour%02d:$minute%02d:$second%02d.$milli%03d"
        val ofSpark =
          DateTimeUtils.stringToTimestamp(UTF8String.fromString(local + offset), ZoneOffset.ofHours(5))
        assert(time(local + offset) == ofSpark.getOrElse(LoggedText.Unknown))
        val withoutZone =
          DateTimeUtils.stringToTimestampWithoutTimeZone(UTF8String.fromString(local), allowTimeZone = false)
        assert(in(local)(LoggedText.timeWithoutZone(_, _, _)) == withoutZone.getOrElse(LoggedText.Unknown))
    }
  }

  test("a date is Spark's, and unknown where Spark finds none or calendars differ") {
    forAll(days, minSuccessful(2000)) { case (year, month, dayOfMonth) =>
      val text = f"$year%04d-$month%02d-$dayOfMonth%02d"
      val ofSpark = DateTimeUtils.stringToDate(UTF8String.fromString(text)).filter(_ => year > 1582)
      assert(day(text) == ofSpark.fold(LoggedText.Unknown)(_.toLong))
    }
  }

  test("any other form of a time or a date is unknown") {
    val text = "2026-01-31T23:59:59.999Z"
    assert(time(text) != LoggedText.Unknown && day(text.take(10)) != LoggedText.Unknown)
    forAll(Gen.choose(0, text.length - 1), Gen.oneOf("a z٣/")) { (at, other) =>
      assert(time(text.updated(at, other)) == LoggedText.Unknown)
      if (at < 10) assert(day(text.take(10).updated(at, other)) == LoggedText.Unknown)
    }
    Seq(text.dropRight(1), text + "Z", text.dropRight(1) + "+0:00", "").foreach(other =>
      assert(time(other) == LoggedText.Unknown)
    )
    Seq("2026-01-1", "2026-01-011", text, "").foreach(other => assert(day(other) == LoggedText.Unknown))
  }

  private val decimals = for {
    precision <- Gen.choose(1, 18)
    scale <- Gen.choose(0, precision)
  } yield DecimalType(precision, scale)

  private val numbers = for {
    sign <- Gen.oneOf("", "-")
    whole <- Gen.choose(0, 19).flatMap(Gen.listOfN(_, Gen.numChar))
    fraction <-
      Gen.oneOf(Gen.const(""), Gen.choose(0, 19).flatMap(Gen.listOfN(_, Gen.numChar)).map("." + _.mkString))
  } yield sign + whole.mkString + fraction

  test("a decimal is Java's, and unknown if it would be rounded or does not fit") {
    forAll(decimals, numbers, minSuccessful(5000)) { (dataType, text) =>
      val found = unscaled(text, dataType)
      if (found != LoggedText.Unknown) {
        val exact = BigDecimal(text)
        val read = Decimal(found, dataType.precision, dataType.scale)
        assert(read == Decimal(exact, dataType.precision, dataType.scale) && read.toBigDecimal == exact)
      }
    }
  }

  test("decimals as writers of statistics give them are known") {
    val dataType = DecimalType(12, 2)
    val known = Seq("0" -> 0L, "12.5" -> 1250L, "-12.50" -> -1250L, "9999999999.99" -> 999999999999L)
    known.foreach { case (text, value) => assert(unscaled(text, dataType) == value, text) }
    assert(unscaled("123456789012345678", DecimalType(18, 0)) == 123456789012345678L)
    Seq("", "-", ".", "1e2", "12.345", "10000000000", "1.2.3", "NaN", "1234567890123456789").foreach { text =>
      assert(unscaled(text, dataType) == LoggedText.Unknown, text)
    }
  }
}
