package io.deltaupkeep.stats

import java.nio.charset.StandardCharsets.UTF_8

import io.deltaupkeep.parquet.footer.{FooterTotals, LeafBounds, LeafTotals, SplicedTotals}
import io.deltaupkeep.stats.RewriteCheck._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.types.StructType

class RewriteCheckSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def leaf(nulls: Long, values: Long = 10, rows: Long = 10): LeafTotals =
    LeafTotals(rows, values, Some(nulls), None)

  private def footers(leaves: (String, LeafTotals)*): FooterTotals =
    FooterTotals(
      10,
      0,
      leaves.map { case (path, totals) => path.split('/').toSeq -> totals }.toMap,
      byParquetMr = true
    )

  private def verdict(
      ddl: String,
      log: String,
      inputs: FooterTotals,
      output: FooterTotals,
      byId: Boolean = false
  ): Verdict = {
    val schema = StructType.fromDDL(ddl)
    new RewriteCheck(schema, byId)(new MergedStats(schema).of(Seq(log)), SplicedTotals(inputs, output))
  }

  private val unknown = "{}"

  test("what is the same passes, and what is not is told") {
    val cases = Table(
      ("what", "columns", "log", "inputs", "output", "difference"),
      (
        "all alike",
        "a INT",
        """{"numRecords":10,"nullCount":{"a":3}}""",
        footers("a" -> leaf(3)),
        footers("a" -> leaf(3)),
        ""
      ),
      (
        "rows by the footers",
        "a INT",
        unknown,
        footers("a" -> leaf(0)).copy(rows = 11),
        footers("a" -> leaf(0)),
        "11 rows by their footers"
      ),
      (
        "rows by the log",
        "a INT",
        """{"numRecords":9}""",
        footers("a" -> leaf(0)),
        footers("a" -> leaf(0)),
        "the number of rows: 9 and 10"
      ),
      (
        "a column that became null",
        "a INT",
        unknown,
        footers("a" -> leaf(0)),
        footers("a" -> leaf(10)),
        "Column a has 0 nulls"
      ),
      (
        "the same by the log alone",
        "a INT",
        """{"numRecords":10,"nullCount":{"a":0}}""",
        footers("a" -> leaf(0).copy(nulls = None)),
        footers("a" -> leaf(10)),
        "0 nulls by the log"
      ),
      (
        "a column that files lack",
        "a INT, b INT",
        unknown,
        footers("a" -> leaf(0)),
        footers("a" -> leaf(0), "b" -> leaf(10)),
        ""
      ),
      (
        "values for a column that files lack",
        "a INT, b INT",
        unknown,
        footers("a" -> leaf(0)),
        footers("a" -> leaf(0), "b" -> leaf(4)),
        "Column b has 10 nulls"
      ),
      (
        "a column that some lack",
        "a INT",
        unknown,
        footers("a" -> leaf(1, rows = 6)),
        footers("a" -> leaf(5)),
        ""
      ),
      (
        "a column by another name",
        "`a=1` INT",
        unknown,
        footers("a=1" -> leaf(0)),
        footers("a" -> leaf(10)),
        "lacks the column a=1"
      ),
      (
        "a field of a struct",
        "s STRUCT<x: INT, y: INT>",
        unknown,
        footers("s/x" -> leaf(2), "s/y" -> leaf(3)),
        footers("s/x" -> leaf(2), "s/y" -> leaf(2)),
        "Column s.y"
      ),
      (
        "values of a list",
        "l ARRAY<INT>",
        unknown,
        footers("l/list/element" -> leaf(2, 30)),
        footers("l/list/element" -> leaf(2, 29)),
        "30 values"
      ),
      (
        "nulls in a list",
        "l ARRAY<STRUCT<b: STRUCT<c: INT>>>",
        unknown,
        footers("l/list/element/b/c" -> leaf(0, 30)),
        footers("l/list/element/b/c" -> leaf(30, 30)),
        "0 nulls"
      ),
      (
        "a key of a map",
        "m MAP<STRING, INT>",
        unknown,
        footers("m/key_value/key" -> leaf(0, 30), "m/key_value/value" -> leaf(1, 30)),
        footers("m/key_value/key" -> leaf(0, 30), "m/key_value/value" -> leaf(2, 30)),
        "Column m.key_value.value"
      ),
      (
        "a field of elements that files lack, beside one of the same name",
        "l ARRAY<STRUCT<id: INT, p: STRUCT<id: INT>>>",
        unknown,
        footers("l/list/element/p/id" -> leaf(2, 30)),
        footers("l/list/element/id" -> leaf(30, 30), "l/list/element/p/id" -> leaf(2, 30)),
        ""
      ),
      (
        "a field of map values that files lack, beside one of the same name",
        "m MAP<STRING, STRUCT<id: INT, p: STRUCT<id: INT>>>",
        unknown,
        footers("m/key_value/key" -> leaf(0, 30), "m/key_value/value/p/id" -> leaf(2, 30)),
        footers(
          "m/key_value/key" -> leaf(0, 30),
          "m/key_value/value/id" -> leaf(30, 30),
          "m/key_value/value/p/id" -> leaf(2, 30)
        ),
        ""
      ),
      (
        "nulls by nobody",
        "a INT",
        """{"numRecords":10,"nullCount":{"a":4}}""",
        footers("a" -> leaf(3)),
        footers("a" -> leaf(2)),
        "Column a has 3 nulls"
      ),
      (
        "nulls of a column whose bounds are not UTF-8",
        "a STRING",
        """{"numRecords":10,"minValues":{"a":"�"},"maxValues":{"a":"�"},"nullCount":{"a":0}}""",
        footers("a" -> leaf(0).copy(nulls = None)),
        footers("a" -> leaf(1)),
        "0 nulls by the log"
      ),
      (
        "nothing known",
        "a INT",
        unknown,
        footers("a" -> leaf(0).copy(nulls = None)),
        footers("a" -> leaf(3)),
        ""
      )
    )
    forAll(cases) { (what, columns, log, inputs, output, difference) =>
      verdict(columns, log, inputs, output) match {
        case Same => assert(difference.isEmpty, what)
        case Differs(told) => assert(difference.nonEmpty && told.contains(difference), what)
        case InputsDisagree(told) => assert(what == "rows by the log" && told.contains(difference))
      }
    }
  }

  test("if the log and the footers contradict each other, the new file may agree with either") {
    def nulls(ddl: String, path: String, log: String) = (before: Long, after: Long) =>
      verdict(
        ddl,
        s"""{"numRecords":10,"nullCount":$log}""",
        footers(path -> leaf(before)),
        footers(path -> leaf(after))
      )
    def disagree(what: String) = InputsDisagree(s"the log and the footers disagree on $what")
    val ofColumn = nulls("a INT", "a", """{"a":4}""")
    assert(ofColumn(3, 3) == disagree("column a: 4 and 3 nulls"))
    assert(ofColumn(0, 4) == disagree("column a: 4 and 0 nulls"))
    val ofField = nulls("s STRUCT<x: INT>", "s/x", """{"s":{"x":4}}""")
    assert(ofField(3, 3) == disagree("column s.x: 4 and 3 nulls"))
    val rows = footers("a" -> leaf(0))
    def ofRows(log: Int, before: Long) =
      verdict(
        "a INT",
        s"""{"numRecords":$log}""",
        footers("a" -> leaf(0, before, before)).copy(rows = before),
        rows
      )
    assert(ofRows(11, 10) == disagree("the number of rows: 11 and 10"))
    assert(ofRows(10, 11) == disagree("the number of rows: 10 and 11"))
    assert(ofRows(11, 11).isInstanceOf[Differs])
  }

  test("a difference is told before what the inputs disagree on") {
    val log = """{"numRecords":10,"nullCount":{"a":4,"b":0}}"""
    val told = verdict(
      "a INT, b INT",
      log,
      footers("a" -> leaf(3), "b" -> leaf(0)),
      footers("a" -> leaf(3), "b" -> leaf(10))
    )
    assert(told.isInstanceOf[Differs])
  }

  test("other writers may count fewer nulls within a struct, but not more") {
    val inputs = footers("s/x" -> leaf(2)).copy(byParquetMr = false)
    assert(verdict("s STRUCT<x: INT>", unknown, inputs, footers("s/x" -> leaf(5))) == Same)
    assert(verdict("s STRUCT<x: INT>", unknown, inputs, footers("s/x" -> leaf(1))) != Same)
    val log = """{"numRecords":10,"nullCount":{"s":{"x":2}}}"""
    assert(verdict("s STRUCT<x: INT>", log, inputs, footers("s/x" -> leaf(5))) == Same)
  }

  test("rows that are deleted may take their nulls and values along, and no others") {
    def after(rows: Long, nulls: Long) = footers("a" -> leaf(nulls, rows, rows)).copy(rows = rows)
    val inputs = footers("a" -> leaf(4)).copy(dropped = 3)
    for (nulls <- 1 to 4) assert(verdict("a INT", unknown, inputs, after(7, nulls.toLong)) == Same)
    assert(verdict("a INT", unknown, inputs, after(7, 0)) != Same)
    assert(verdict("a INT", unknown, inputs, after(7, 5)) != Same)
    assert(verdict("a INT", unknown, inputs, after(8, 4)) != Same)
    val lists = footers("l/list/element" -> leaf(0, 30)).copy(dropped = 3)
    def elements(values: Long) = footers("l/list/element" -> leaf(0, values)).copy(rows = 7)
    assert(verdict("l ARRAY<INT>", unknown, lists, elements(1)) == Same)
    assert(verdict("l ARRAY<INT>", unknown, lists, elements(31)) != Same)
  }

  test("a column that is filled has a value in every row") {
    def check(leaves: (String, LeafTotals)*) =
      new RewriteCheck(StructType.fromDDL("a INT"), false, Set("id"))(
        new MergedStats(StructType.fromDDL("a INT")).of(Seq(unknown)),
        SplicedTotals(footers("a" -> leaf(0), "id" -> leaf(6)), footers(leaves: _*))
      )
    assert(check("a" -> leaf(0), "id" -> leaf(0)) == Same)
    assert(
      check("a" -> leaf(0), "id" -> leaf(1)) == Differs("Rows of the new file have no value in column id.")
    )
    assert(check("a" -> leaf(0)) == Differs("The new file lacks the column id."))
  }

  test("a column that is found by its id may have another name") {
    val (inputs, output) = (footers("old" -> leaf(0)), footers("a" -> leaf(0)))
    assert(verdict("a INT", unknown, inputs, output, byId = true) == Same)
    assert(verdict("a INT", unknown, inputs, output) != Same)
  }

  test("bounds of the log and of the new file are the same where both are exact") {
    def numbers(min: BigDecimal, max: BigDecimal) = LeafBounds.Numbers(min, max)
    def texts(min: String, max: String) = LeafBounds.Texts(min.getBytes(UTF_8), max.getBytes(UTF_8))
    val cut = "x" * 32
    val cases = Table(
      ("type", "min", "max", "written", "same"),
      ("INT", "1", "10", numbers(1, 10), true),
      ("INT", "1", "10", numbers(2, 10), false),
      ("INT", "1", "10", numbers(1, 11), false),
      ("DOUBLE", "0.1", "1e3", numbers(BigDecimal(new java.math.BigDecimal(0.1)), 1000), true),
      ("DOUBLE", "-0.0", "0.0", numbers(0, 0), true),
      ("DOUBLE", "0.1", "\"NaN\"", numbers(7, 8), true),
      ("FLOAT", "0.1", "0.5", numbers(BigDecimal(new java.math.BigDecimal(0.1f.toDouble)), 0.5), true),
      ("DECIMAL(9, 2)", "1.50", "2", numbers(BigDecimal("1.5"), BigDecimal("2.00")), true),
      (
        "DECIMAL(38, 10)",
        "-0.1",
        "1.2345678901234567e+19",
        numbers(BigDecimal("-0.1"), BigDecimal("12345678901234567890.1234567891")),
        true
      ),
      (
        "DECIMAL(38, 10)",
        "-0.1",
        "1.23456789e+19",
        numbers(BigDecimal("-0.1"), BigDecimal("12345678901234567890")),
        false
      ),
      ("DATE", "\"1970-01-02\"", "\"1970-01-03\"", numbers(1, 2), true),
      ("DATE", "\"1970-01-02\"", "\"1970-01-03\"", numbers(1, 3), false),
      (
        "TIMESTAMP",
        "\"1970-01-01T00:00:00.001Z\"",
        "\"1970-01-01T00:00:00.002Z\"",
        numbers(1001, 2999),
        true
      ),
      (
        "TIMESTAMP",
        "\"1970-01-01T00:00:00.001Z\"",
        "\"1970-01-01T00:00:00.002Z\"",
        numbers(1001, 3000),
        false
      ),
      (
        "TIMESTAMP_NTZ",
        "\"1969-12-31T23:59:59.999\"",
        "\"1970-01-01T00:00:00.002\"",
        numbers(-1000, 2000),
        true
      ),
      ("STRING", "\"a\"", "\"b\"", texts("a", "b"), true),
      ("STRING", "\"a\"", "\"b\"", texts("a", "ba"), false),
      ("STRING", "\"b\"", "\"b\"", texts("a", "b"), false),
      ("STRING", s"\"$cut\"", s"\"$cut\"", texts(cut + "y", cut + "z"), true),
      // Footers cut short: to `ab`, and to `az` with its last character incremented.
      ("STRING", "\"abc\"", "\"azc\"", texts("ab", "a{"), true),
      ("STRING", "\"abc\"", "\"azc\"", texts("ab", "b"), true),
      ("STRING", "\"abc\"", "\"azc\"", texts("ab", "c"), false),
      ("STRING", "\"abc\"", "\"\u00e9\u00e9\"", texts("ab", "\u00e9\u00ea"), true),
      ("STRING", "\"abc\"", "\"\u00e9\u00e9\"", texts("ab", "\u00eb\u00e9"), false),
      // The log has no bytes that are not UTF-8.
      ("STRING", "\"\uFFFD\"", "\"b\"", LeafBounds.Texts(Array(0x80.toByte), "b".getBytes(UTF_8)), true),
      ("STRING", "\"a\"", "\"\uFFFD\"", LeafBounds.Texts("a".getBytes(UTF_8), Array(0xff.toByte)), true),
      ("STRING", "\"a\"", "\"\\ud800\"", texts("a", "b"), true),
      // Bounds of delta-rs
      ("DECIMAL(38, 0)", "-9223372036854775808", "1", numbers(BigDecimal("-99999999999999999999"), 1), true),
      ("DECIMAL(38, 0)", "1", "9223372036854775807", numbers(1, BigDecimal("12345678901234567890123")), true),
      ("DECIMAL(38, 0)", "1", "1234567890123456768", numbers(1, BigDecimal("1234567890123456789")), true),
      ("DECIMAL(38, 0)", "1", "1234567890123456768", numbers(1, BigDecimal("1234567890123466789")), false),
      // What no double, float or Long holds
      ("DOUBLE", "1", "1e400", numbers(1, 2), true),
      ("FLOAT", "1", "1e39", numbers(1, 2), true),
      // 1850-01-01 in Berlin, at +00:53:28
      (
        "TIMESTAMP",
        "\"1850-01-01T00:00:00.000+00:53\"",
        "\"1850-01-01T00:00:00.000+00:53\"",
        numbers(-3786828808000000L, -3786828808000000L),
        true
      ),
      (
        "TIMESTAMP",
        "\"1850-01-01T00:00:00.000+00:53\"",
        "\"1850-01-01T00:00:00.000+00:53\"",
        numbers(-3786828908000000L, -3786828808000000L),
        false
      ),
      (
        "TIMESTAMP",
        "\"1850-01-01T00:00:00.000+00:53:28\"",
        "\"1850-01-01T00:00:00.000+00:53:28\"",
        numbers(-3786828809000000L, -3786828808000000L),
        false
      )
    )
    forAll(cases) { (kind, min, max, written, same) =>
      val log = s"""{"numRecords":10,"minValues":{"a":$min},"maxValues":{"a":$max},"nullCount":{"a":0}}"""
      val output = footers("a" -> leaf(0).copy(bounds = Some(written)))
      assert((verdict(s"a $kind", log, footers("a" -> leaf(0)), output) == Same) == same)
    }
  }

  test("a partition column has one value in all rows") {
    val check = new RewriteCheck(StructType.fromDDL("a INT"), byId = false, constant = Set("p"))
    def verdict(ofP: (String, LeafTotals)*) = {
      val output = footers(("a" -> leaf(0)) +: ofP: _*)
      check(
        new MergedStats(StructType.fromDDL("a INT")).of(Seq(unknown)),
        SplicedTotals(footers("a" -> leaf(0)), output)
      )
    }
    val bytes = (text: String) => text.getBytes(UTF_8)
    val cases = Table(
      ("nulls", "bounds", "same"),
      (0L, None, true),
      (10L, None, true),
      (1L, None, false),
      (0L, Some(LeafBounds.Numbers(7, 7)), true),
      (0L, Some(LeafBounds.Numbers(7, 8)), false),
      (0L, Some(LeafBounds.Texts(bytes("x"), bytes("x"))), true),
      (0L, Some(LeafBounds.Texts(bytes("x"), bytes("y"))), false)
    )
    forAll(cases) { (nulls, bounds, same) =>
      assert((verdict("p" -> leaf(nulls).copy(bounds = bounds)) == Same) == same)
    }
    assert(verdict() != Same)
  }

  test("wide bounds of the log only have to enclose the values") {
    def log(tight: Boolean) =
      s"""{"numRecords":10,"minValues":{"a":1},"maxValues":{"a":9},"nullCount":{"a":0},"tightBounds":$tight}"""
    val output = footers("a" -> leaf(0).copy(bounds = Some(LeafBounds.Numbers(2, 8))))
    assert(verdict("a INT", log(tight = false), footers("a" -> leaf(0)), output) == Same)
    assert(verdict("a INT", log(tight = true), footers("a" -> leaf(0)), output) != Same)
  }
}
