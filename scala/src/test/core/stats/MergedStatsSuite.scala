package io.deltaupkeep.stats

import com.fasterxml.jackson.databind.DeserializationFeature
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature
import com.fasterxml.jackson.databind.json.JsonMapper
import io.deltaupkeep.parquet.footer.{ChunkFacts, LeafBounds, LeafTotals}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.types._

class MergedStatsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val bounded = LeafTotals(10, 10, Some(0), Some(LeafBounds.Numbers(0, 7)))

  private def merged(kind: String, footer: => Option[String], inputs: String*): Option[String] =
    new MergedStats(StructType.fromDDL(s"c $kind")).of(inputs).json(footer.map(of(_, bounded)))

  private def of(footer: String, leaf: LeafTotals): FooterStats = FooterStats(footer, Map(Seq("c") -> leaf))

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

  test("bounds hold both zeros, which Spark takes for equal") {
    Seq("FLOAT", "DOUBLE").foreach { kind =>
      val text = merged(kind, noFooter, stats("0.0", "0.0"), stats("-0.0", "-0.0"))
      assert(text.exists(_.contains(""""minValues":{"c":-0.0},"maxValues":{"c":0.0}""")), text)
    }
  }

  test("what Delta's writer may get wrong of a new file is left out") {
    def certain(kind: String, min: String, max: String): String = {
      val text = new MergedStats(StructType.fromDDL(s"c $kind")).certain(stats(min, max))
      text.substring(text.indexOf("\"minValues\""), text.indexOf(",\"nullCount\""))
    }
    val long = "a" * 32
    val cases = Table(
      ("type", "min", "max", "certain"),
      ("DOUBLE", "0.0", "-0.0", """"minValues":{"c":-0.0},"maxValues":{"c":0.0}"""),
      ("INT", "0", "0", """"minValues":{"c":0},"maxValues":{"c":0}"""),
      ("DECIMAL(4,2)", "0.00", "0.00", """"minValues":{"c":0.00},"maxValues":{"c":0.00}"""),
      ("STRING", "\"a\"", "\"b\uFFFDc\"", """"minValues":{},"maxValues":{}"""),
      ("STRING", "\"a\"", "\"\uFFFD\"", """"minValues":{},"maxValues":{}"""),
      ("STRING", "\"a\"", s"\"$long\uFFFD\"", s""""minValues":{"c":"a"},"maxValues":{"c":"$long\uFFFD"}""")
    )
    forAll(cases)((kind, min, max, expected) => assert(certain(kind, min, max) == expected))
  }

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
      // U+1F600 is above U+FF5E as UTF-8, and below it as UTF-16.
      (
        "STRING",
        "\"\uFF5E\"" -> "\"\uFF5E\"",
        "\"\uD83D\uDE00\"" -> "\"\uD83D\uDE00\"",
        "\"\uFF5E\"" -> "\"\uD83D\uDE00\""
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

  test("bounds that may not be those of the values come from the footer") {
    val numbers = LeafBounds.Numbers(-2, BigDecimal("12345678901234567890"))
    val instants = LeafBounds.Numbers(0, 1000)
    def texts(min: Array[Byte]) = LeafBounds.Texts(min, "z".getBytes("UTF-8"))
    val cases = Table(
      ("type", "min", "max", "written", "footer", "expected"),
      // delta-rs
      ("DECIMAL(38,0)", "-2", "9223372036854775807", numbers, "", "-2" -> "12345678901234567890"),
      ("DECIMAL(38,0)", "-2", "12345678901234567000", numbers, "", "-2" -> "12345678901234567000"),
      ("DECIMAL(38,0)", "-2", "1234567890123456768", numbers, "", "-2" -> "12345678901234567890"),
      ("DECIMAL(38,2)", "-2", "1.2345678901234567e+19", numbers, "", "-2" -> "12345678901234567890"),
      ("DECIMAL(38,2)", "-2", "1234567890123.45", numbers, "", "-2" -> "1234567890123.45"),
      // Local mean time
      (
        "TIMESTAMP",
        "\"1850-01-01T00:00:00.000+00:53\"",
        "\"2020-01-01T00:00:00.000+01:00\"",
        instants,
        "",
        "\"1970-01-01T00:00:00.000Z\"" -> "\"1970-01-01T00:00:00.001Z\""
      ),
      ("STRING", "\"\uFFFD\"", "\"z\"", texts("\uFFFD".getBytes("UTF-8")), "\uFFFD", "\"\uFFFD\"" -> "\"z\""),
      ("STRING", "\"\uFFFD\"", "\"z\"", texts(Array(0x80.toByte)), "\uFFFD", "" -> "")
    )
    forAll(cases) { (kind, min, max, written, text, expected) =>
      val footer =
        if (text.isEmpty) """{"numRecords":10,"nullCount":{"c":1}}""" else stats(s"\"$text\"", "\"z\"")
      val merged = new MergedStats(StructType.fromDDL(s"c $kind")).of(Seq(stats(min, max)))
        .json(Some(of(footer, bounded.copy(bounds = Some(written)))))
      same(
        merged,
        if (expected._1.isEmpty) """{"numRecords":10,"nullCount":{"c":1}}"""
        else stats(expected._1, expected._2)
      )
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
    val footer = Some(of(stats("0", "7", nulls = 3), bounded.copy(bounds = None)))
    val merged = new MergedStats(StructType.fromDDL("c DOUBLE")).of(Seq(stats("1", "2"), null)).json(footer)
    same(merged, """{"numRecords":10,"nullCount":{"c":3}}""")
  }

  test("the bounds of deleted rows are not taken") {
    val wide =
      """{"numRecords":10,"minValues":{"c":-5},"maxValues":{"c":50},"nullCount":{"c":1},"tightBounds":false}"""
    val merged = new MergedStats(StructType.fromDDL("c INT")).of(Seq(wide, stats("1", "2")), deleted = 4)
    val tight =
      """{"numRecords":16,"minValues":{"c":0},"maxValues":{"c":7},"nullCount":{"c":2},"tightBounds":true}"""
    same(merged.json(Some(of(stats("0", "7", nulls = 2, rows = 16), bounded))), tight)
    assert(merged.rows.contains(16L) && merged.columns.map(_.isTight) == Seq(false))
    same(merged.json(None), """{"numRecords":16,"tightBounds":true}""")
  }

  test("statistics that no input has come from the footer") {
    val none = """{"numRecords":5}"""
    val found = stats("0", "7", nulls = 3)
    same(merged("INT", Some(found), none, none), found)
    same(merged("INT", Some("{}"), none, none), """{"numRecords":10}""")
  }

  test("bounds that Delta's collector leaves out are those of the column chunks") {
    val micros = 1700000000123456L
    val cases = Table(
      ("type", "least", "greatest", "min", "max"),
      ("DECIMAL(10,2)", BigDecimal("-1.50"), BigDecimal("2.00"), "-1.50", "2.00"),
      (
        "DECIMAL(38,10)",
        BigDecimal("0E-10"),
        BigDecimal("1234567890123456789012345678.0123456789"),
        "0E-10",
        "1234567890123456789012345678.0123456789"
      ),
      (
        "TIMESTAMP",
        BigDecimal(-1),
        BigDecimal(micros),
        "\"1969-12-31T23:59:59.999Z\"",
        "\"2023-11-14T22:13:20.123Z\""
      ),
      (
        "TIMESTAMP_NTZ",
        BigDecimal(-1),
        BigDecimal(micros),
        "\"1969-12-31T23:59:59.999\"",
        "\"2023-11-14T22:13:20.123\""
      )
    )
    forAll(cases) { (kind, least, greatest, min, max) =>
      val leaf = bounded.copy(bounds = Some(LeafBounds.Numbers(least, greatest)))
      def json(footer: String) = new MergedStats(StructType.fromDDL(s"c $kind"))
        .of(Seq("""{"numRecords":10,"nullCount":{"c":1}}"""), deleted = 1).json(Some(of(footer, leaf)))
      same(
        json("""{"numRecords":9,"nullCount":{"c":1}}"""),
        s"""{"numRecords":9,"minValues":{"c":$min},"maxValues":{"c":$max},"nullCount":{"c":1},"tightBounds":true}"""
      )
      // A column without statistics gets none.
      same(json("""{"numRecords":9}"""), """{"numRecords":9,"tightBounds":true}""")
    }
  }

  test("what a footer has no place for is taken from the pages") {
    def json(kind: String, path: Seq[String], facts: Option[ChunkFacts], input: String, footer: String) =
      new MergedStats(StructType.fromDDL(s"c $kind")).of(Seq(input), deleted = 1)
        .json(Some(FooterStats(footer, Map(path -> bounded.copy(bounds = None, facts = facts)))))
    val counted = """{"numRecords":10,"nullCount":{"c":3}}"""
    val plain = """{"numRecords":9,"nullCount":{"c":3},"tightBounds":true}"""
    def instants(first: Long, last: Long) = Some(ChunkFacts(0, Some((first, last))))
    same(
      json("TIMESTAMP", Seq("c"), instants(-1, 1700000000123456L), counted, counted),
      """{"numRecords":9,"minValues":{"c":"1969-12-31T23:59:59.999Z"},
        |"maxValues":{"c":"2023-11-14T22:13:20.123Z"},"nullCount":{"c":3},"tightBounds":true}""".stripMargin
    )
    same(json("TIMESTAMP", Seq("c"), None, counted, counted), plain)
    same(json("TIMESTAMP", Seq("c"), instants(0, 300000000000000000L), counted, counted), plain)
    same(
      json("TIMESTAMP", Seq("c"), instants(0, 1), counted, "{}"),
      """{"numRecords":9,"tightBounds":true}"""
    )
    val lists = Seq("c", "list", "element")
    same(json("ARRAY<INT>", lists, Some(ChunkFacts(3, None)), counted, "{}"), plain)
    same(
      json("ARRAY<INT>", lists, Some(ChunkFacts(3, None)), "{\"numRecords\":10}", "{}"),
      """{"numRecords":9,"tightBounds":true}"""
    )
  }

  test("bounds are tight if all are") {
    val tight = """{"numRecords":1,"tightBounds":true}"""
    val wide = """{"numRecords":1,"tightBounds":false}"""
    same(merged("INT", None, tight, """{"numRecords":1}"""), """{"numRecords":2,"tightBounds":true}""")
    same(merged("INT", None, tight, wide), """{"numRecords":2,"tightBounds":false}""")
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
