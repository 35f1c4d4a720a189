package org.apache.spark.sql.delta.upkeep.spark

import java.time.ZoneOffset

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.unsafe.types.UTF8String

class UtcTimestampProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def parse(text: String): Long = {
    val padded = s"..$text.".toCharArray
    UtcTimestamp.parse(padded, 2, text.length)
  }

  private def ofSpark(text: String): Option[Long] =
    DateTimeUtils.stringToTimestamp(UTF8String.fromString(text), ZoneOffset.ofHours(5))

  private val numbers = Gen.zip(
    Gen.oneOf(Gen.choose(0, 9999), Gen.choose(1890, 2100)),
    Gen.choose(0, 13),
    Gen.choose(0, 32),
    Gen.choose(0, 24),
    Gen.choose(0, 60),
    Gen.choose(0, 60),
    Gen.choose(0, 999)
  )

  test("a timestamp is Spark's, and unknown where Spark finds none") {
    forAll(numbers, minSuccessful(2000)) { case (year, month, day, hour, minute, second, milli) =>
      val text = f"$year%04d-$month%02d-$day%02dT$hour%02d:$minute%02d:$second%02d.$milli%03dZ"
      assert(parse(text) == ofSpark(text).getOrElse(UtcTimestamp.Unknown))
    }
  }

  test("any other form is unknown") {
    val text = "2026-01-31T23:59:59.999Z"
    assert(parse(text) != UtcTimestamp.Unknown)
    forAll(Gen.choose(0, text.length - 1), Gen.oneOf("a z٣/")) { (at, other) =>
      assert(parse(text.updated(at, other)) == UtcTimestamp.Unknown)
    }
    assert(parse(text.dropRight(1)) == UtcTimestamp.Unknown && parse(text + "Z") == UtcTimestamp.Unknown)
  }
}
