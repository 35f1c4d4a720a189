package io.deltaupkeep.stats

import io.deltaupkeep.stats.KeyRange.{Between, NoValues, Unknown}

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class KeyBoundsSuite extends AnyFunSuite {

  private def stats(min: String, max: String, nulls: Int = 0): String =
    s"""{"numRecords":5,"minValues":{"s":{"a":$min}},"maxValues":{"s":{"a":$max}},"nullCount":{"s":{"a":$nulls}}}"""

  private def bounds(dataType: DataType, stats: String*): KeyBounds =
    KeyBounds.of(Seq(Seq("s", "a") -> dataType), stats).head

  test("ranges are ranks in the order of the type") {
    val numbers = bounds(LongType, stats("10", "200"), stats("9", "10"), stats("9", "9"))
    assert(numbers.ranges == Seq(Between(1, 2), Between(0, 1), Between(0, 0)))
    assert(numbers.values == Seq("9", "10", "200"))
    assert(bounds(StringType, stats("\"10\"", "\"9\""), stats("\"200\"", "\"200\"")).ranges ==
      Seq(Between(0, 2), Between(1, 1)))
    // Delta 3.2 ends the maximum of a long text with U+FFFD.
    assert(bounds(StringType, stats("\"a\"", "\"b\uFFFD\"")).ranges == Seq(Between(0, 1)))
    assert(bounds(DateType, stats("\"2024-01-02\"", "\"2024-01-03\"")).ranges == Seq(Between(0, 1)))
  }

  test("files without values are told from files of which nothing is known") {
    val some = bounds(
      LongType,
      stats("null", "null", nulls = 5),
      """{"numRecords":0}""",
      """{"numRecords":5}""",
      """{"numRecords":"5"}""",
      stats("1", "null"),
      stats("\"x\"", "1"),
      stats("2", "1"),
      "[]",
      "{",
      "",
      null
    )
    assert(some.ranges == Seq(NoValues, NoValues) ++ Seq.fill(9)(Unknown))
    assert(some.values.isEmpty)
    assert(bounds(BooleanType, stats("false", "true")).ranges == Seq(Unknown))
  }

  test("each column has ranks of its own") {
    val text =
      """{"numRecords":1,"minValues":{"a":1,"b":7},"maxValues":{"a":1,"b":8},"nullCount":{"a":0,"b":0}}"""
    val both = KeyBounds.of(Seq(Seq("a") -> LongType, Seq("b") -> IntegerType), Seq(text))
    assert(both.map(_.ranges) == Seq(Seq(Between(0, 0)), Seq(Between(0, 1))))
  }
}
