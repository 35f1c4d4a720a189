package org.apache.spark.sql.delta.upkeep.spark

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.SparkUpgradeException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JsonToStructs, Literal}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows of the parser against Spark's `from_json`, by which Delta reads statistics. */
class StatsParserProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val columns = StructType.fromDDL(
    "a STRING, b BIGINT, c INT, d DOUBLE, e DATE, f TIMESTAMP, g TIMESTAMP_NTZ, h DECIMAL(9,2), i DECIMAL(30,4), " +
      "j FLOAT, k STRUCT<l: STRING, m: BIGINT>, n BOOLEAN"
  )
  private val schema = new StructType()
    .add("numRecords", "bigint")
    .add("minValues", columns)
    .add("nullCount", StructType.fromDDL("a BIGINT, k STRUCT<l: BIGINT, m: BIGINT>"))
    .add("tightBounds", "boolean")

  private val scalars: Gen[String] = Gen.oneOf(
    Gen.oneOf(
      "null",
      "true",
      "{}",
      "[1, 2]",
      "{ \"l\" : 1 }",
      "\"\"",
      "\"NaN\"",
      "NaN",
      "\"Infinity\"",
      "1.50",
      "2e1"
    ),
    Gen.chooseNum(Long.MinValue, Long.MaxValue).map(_.toString),
    Gen.chooseNum(-999, 999).map(_.toString),
    Gen.chooseNum(-99999, 99999).map(cents => (BigDecimal(cents) / 100).toString),
    Gen.chooseNum(-1e9, 1e9).map(_.toString),
    Gen.oneOf("é", "日本", "a\\nb", "\\ud83d\\ude00", "x" * 40).map("\"" + _ + "\""),
    for {
      year <- Gen.oneOf(0, 1500, 1582, 1969, 2026, 9999)
      rest <- Gen.oneOf("-01-31", "-02-30", "-1-3", "-10-10")
      time <-
        Gen.oneOf("", "T23:59:59.999", "T00:00:00.000", " 01:02:03", "T24:00:00.000", "T12:00:00.123456")
      zone <- Gen.oneOf("", "Z", "-08:00", "+05:30", "+18:00", "+18:01", "-00:00", "+0530", " CET")
    } yield f""""$year%04d$rest$time$zone""""
  )

  private def objects(of: StructType): Gen[String] = {
    val fields = of.fields.toSeq.map { field =>
      val value = field.dataType match {
        case struct: StructType => Gen.frequency(5 -> objects(struct), 1 -> scalars)
        case _ => scalars
      }
      Gen.zip(value, Gen.frequency(4 -> true, 1 -> false)).map { case (text, isThere) =>
        if (isThere) Seq(s""""${field.name}":$text""") else Nil
      }
    }
    Gen.zip(Gen.sequence[Seq[Seq[String]], Seq[String]](fields), Gen.oneOf("", ",", ",\"more\":{\"x\":[1]}")).map {
      case (some, "") => some.flatten.mkString("{", ",", "}")
      case (some, more) =>
        some.flatten.mkString("{", ",", more.drop(if (some.flatten.isEmpty) 1 else 0) + "}")
    }
  }

  private val texts: Gen[String] = Gen.frequency(
    12 -> objects(schema),
    1 -> objects(schema).flatMap(text => Gen.chooseNum(0, text.length).map(text.take(_))),
    1 -> Gen.oneOf("", "null", "[]", "1", "{}", "{} {}", "{\"numRecords\":1,\"numRecords\":2}")
  )

  private def check(text: UTF8String, parser: StatsParser): Unit = {
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    def ofSpark = JsonToStructs(schema, Map.empty, Literal(text, StringType), zone).eval(InternalRow.empty)
    def outcome(row: => InternalRow) =
      try Option(row).map(_.copy().toSeq(schema).toString)
      // Spark refuses dates that an older version may have read differently.
      catch { case e: SparkUpgradeException => Some(e.getCondition) }
    val expected = outcome(ofSpark.asInstanceOf[InternalRow])
    val found = outcome(parser.parse(text))
    assert(found == expected, text.toString)
  }

  private def withConf(settings: (String, String)*)(body: => Unit): Unit = {
    val conf = new SQLConf
    settings.foreach { case (key, value) => conf.setConfString(key, value) }
    SQLConf.withExistingConf(conf)(body)
  }

  for (zone <- Seq("UTC", "America/Los_Angeles"); policy <- Seq("CORRECTED", "EXCEPTION"))
    test(s"a row is that of from_json, whatever the rows before it held: $zone, $policy") {
      withConf(SQLConf.SESSION_LOCAL_TIMEZONE.key -> zone, SQLConf.LEGACY_TIME_PARSER_POLICY.key -> policy) {
        val parser = new StatsParser(schema, SQLConf.get)
        forAll(texts, minSuccessful(2000))(text => check(UTF8String.fromString(text), parser))
      }
    }

  test("bytes that are not UTF-8 become the sign for them") {
    val parser = new StatsParser(schema, SQLConf.get)
    val text = "{\"numRecords\":7,\"minValues\":{\"a\":\"x?y\"}}".getBytes(UTF_8)
    text(text.indexOf('?'.toByte)) = 0xff.toByte
    check(UTF8String.fromBytes(text), parser)
    assert(parser.parse(UTF8String.fromBytes(text)).getLong(0) == 7)
  }
}
