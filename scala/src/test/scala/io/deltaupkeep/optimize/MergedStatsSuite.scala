package io.deltaupkeep.optimize

import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature
import com.fasterxml.jackson.databind.json.JsonMapper
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.types._

class MergedStatsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def merged(kind: String, footer: => Option[String], inputs: String*): Option[String] =
    new MergedStats(StructType.fromDDL(s"c $kind")).of(inputs).json(footer.map(FooterStats(_, Set(Seq("c")))))

  private def same(actual: Option[String], expected: String): Unit = {
    val json = JsonMapper
      .builder()
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
      .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
      .build()
    assert(actual.map(json.readTree).contains(json.readTree(expected)), actual)
    ()
  }

  private def noFooter: Option[String] = fail("the footer is not needed")

  private def stats(min: String, max: String, nulls: Int = 1, rows: Int = 10): String =
    s"""{"numRecords":$rows,"minValues":{"c":$min},"maxValues":{"c":$max},"nullCount":{"c":$nulls}}"""

  test("bounds follow the order of the type") {
    val cases = Table(
      ("type", "first", "second", "both"),
      ("BIGINT", "9" -> "10", "-1" -> "9", "-1" -> "10"),
      ("DOUBLE", "1.5E10" -> "2e10", "0.5" -> "3", "0.5" -> "2e10"),
      // NaN is the greatest, wherever it is said.
      ("DOUBLE", "1.5" -> "\"NaN\"", "0.5" -> "3", "0.5" -> "\"NaN\""),
      ("DOUBLE", "0.5" -> "3", "\"NaN\"" -> "\"NaN\"", "0.5" -> "\"NaN\""),
      ("FLOAT", "\"-Infinity\"" -> "3", "1" -> "\"Infinity\"", "\"-Infinity\"" -> "\"Infinity\""),
      ("FLOAT", "\"Infinity\"" -> "\"NaN\"", "1" -> "\"Infinity\"", "1" -> "\"NaN\""),
      ("DOUBLE", "0.0" -> "-0.0", "-0.0" -> "0.0", "-0.0" -> "0.0"),
      (
        "DECIMAL(38,2)",
        "12345678901234567890.12" -> "99999999999999999999.99",
        "1.00" -> "2.00",
        "1.00" -> "99999999999999999999.99"
      ),
      ("STRING", "\"b\"" -> "\"c\"", "\"a\"" -> "\"bb\"", "\"a\"" -> "\"c\""),
      // U+1F600 is above U+FFFD as UTF-8, and below it as UTF-16.
      (
        "STRING",
        "\"\uFFFD\"" -> "\"\uFFFD\"",
        "\"\uD83D\uDE00\"" -> "\"\uD83D\uDE00\"",
        "\"\uFFFD\"" -> "\"\uD83D\uDE00\""
      ),
      (
        "DATE",
        "\"2024-01-01\"" -> "\"2024-12-31\"",
        "\"0999-01-01\"" -> "\"0999-01-01\"",
        "\"0999-01-01\"" -> "\"2024-12-31\""
      ),
      (
        "TIMESTAMP",
        "\"2024-01-01T00:00:00.000Z\"" -> "\"2024-01-01T00:00:00.000Z\"",
        "\"2024-01-01T00:30:00.000+01:00\"" -> "\"2024-01-01T00:30:00.000+01:00\"",
        "\"2024-01-01T00:30:00.000+01:00\"" -> "\"2024-01-01T00:00:00.000Z\""
      )
    )
    forAll(cases) { (kind, a, b, both) =>
      val inputs = Seq(stats(a._1, a._2), stats(b._1, b._2))
      same(merged(kind, noFooter, inputs: _*), stats(both._1, both._2, nulls = 2, rows = 20))
    }
  }

  test("a file of nulls alone bounds nothing") {
    val nulls = """{"numRecords":5,"minValues":{},"maxValues":{},"nullCount":{"c":5}}"""
    same(merged("INT", noFooter, stats("1", "2"), nulls), stats("1", "2", nulls = 6, rows = 15))
  }

  test("what only some inputs know comes from the footer, but for collections") {
    val footer = stats("0", "7", nulls = 3, rows = 99)
    val some = """{"numRecords":5}"""
    same(merged("INT", Some(footer), stats("1", "2"), some), stats("0", "7", nulls = 3, rows = 15))
    same(merged("INT", Some(footer), stats("1", "2"), null), footer)
    val arrays = """{"numRecords":10,"nullCount":{"c":1}}"""
    same(merged("ARRAY<INT>", Some(arrays), arrays, some), """{"numRecords":15}""")
    same(merged("ARRAY<INT>", noFooter, arrays, arrays), """{"numRecords":20,"nullCount":{"c":2}}""")
  }

  test("a footer bounds only columns whose bounds are those of every row group") {
    val footer = Some(FooterStats(stats("0", "7", nulls = 3), bounded = Set.empty))
    val merged = new MergedStats(StructType.fromDDL("c DOUBLE")).of(Seq(stats("1", "2"), null)).json(footer)
    same(merged, """{"numRecords":10,"nullCount":{"c":3}}""")
  }

  test("bounds are tight if all are") {
    val tight = """{"numRecords":1,"tightBounds":true}"""
    val wide = """{"numRecords":1,"tightBounds":false}"""
    same(merged("INT", noFooter, tight, """{"numRecords":1}"""), """{"numRecords":2,"tightBounds":true}""")
    same(merged("INT", noFooter, tight, wide), """{"numRecords":2,"tightBounds":false}""")
  }

  test("nothing is known where nobody knows anything") {
    assert(merged("INT", None, null, null).isEmpty)
  }

  test("files without a version of Spark follow the rebase modes of the session") {
    val noVersion = Map("k" -> "v")
    val sparks = Map("org.apache.spark.version" -> "4.2.0")
    for (mode <- Seq("LEGACY", "EXCEPTION"); modes <- Seq(Set(mode), Set("CORRECTED", mode))) {
      assert(new SparkCalendar(modes).problem(noVersion).exists(_.endsWith(s"in the rebase mode $mode")))
      assert(new SparkCalendar(modes).problem(sparks).isEmpty)
    }
    assert(new SparkCalendar(Set.empty).problem(noVersion).isEmpty)
  }

  test("files of the legacy calendar are told by their metadata") {
    val cases = Table(
      ("metadata", "legacy"),
      (Map.empty[String, String], false),
      (Map("org.apache.spark.version" -> "4.2.0"), false),
      (Map("org.apache.spark.version" -> "3.1.0"), false),
      (Map("org.apache.spark.version" -> "3.0.3"), true),
      (Map("org.apache.spark.version" -> "2.4.8"), true),
      (Map("org.apache.spark.version" -> "4.2.0", "org.apache.spark.legacyDateTime" -> ""), true),
      (Map("org.apache.spark.version" -> "4.2.0", "org.apache.spark.legacyINT96" -> ""), true)
    )
    val corrected = new SparkCalendar(Set("CORRECTED"))
    forAll(cases)((metadata, legacy) => assert(corrected.problem(metadata).nonEmpty == legacy))
  }
}
