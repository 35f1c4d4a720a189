package org.apache.spark.sql.delta.upkeep.splice

import java.io.File

import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestSession}
import org.apache.spark.sql.types.{StructType, TimestampType}

/** Tables of Delta whose statistics do not say exactly what their files hold. */
class OddStatisticsSuite extends AnyFunSuite {
  import ForeignTables.optimize
  import TestSession.{root, spark}

  private def newTable(name: String, columns: String)(rows: String*): String = {
    val path = new File(root, name).getAbsolutePath
    spark.sql(s"CREATE TABLE delta.`$path` ($columns) USING delta")
    rows.foreach(row => spark.sql(s"INSERT INTO delta.`$path` SELECT $row"))
    path
  }

  private def statsOf(path: String): String = DeltaLog.forTable(spark, path).update().allFiles.head().stats

  test("fields are added beside others of the same name") {
    val inner = "named_struct('product', named_struct('id', 1))"
    val path = newTable(
      "odd-fields",
      "l ARRAY<STRUCT<product: STRUCT<id: INT>>>, m MAP<STRING, STRUCT<product: STRUCT<id: INT>>>"
    )(Seq.fill(2)(s"array($inner, $inner), map('a', $inner)"): _*)
    spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN l.element.id INT")
    spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN m.value.id INT")
    assert(optimize(path)._1 == "splice")
  }

  test("bytes that are not UTF-8 bound nothing in the log") {
    val path = newTable("odd-bytes", "a STRING, b INT")(
      "CAST(X'80' AS STRING), 1",
      "CAST(X'FF' AS STRING), 2",
      "'\u00e9', 3"
    )
    assert(optimize(path)._1 == "splice")
    assert(
      statsOf(path) ==
        """{"numRecords":3,"minValues":{"b":1},"maxValues":{"b":3},"nullCount":{"a":0,"b":0}}"""
    )
    assert(ForeignTables.rowsOf(path, "a < '\u00e9'").size == 1)
  }

  test("offsets of Spark 3.5 lack the seconds of local mean time") {
    val parquet =
      MessageTypeParser.parseMessageType("message m { optional int64 a (TIMESTAMP(MICROS,true)); }")
    val start = "\"1850-01-01T00:00:00.000+00:53\""
    val stats = s"""{"numRecords":1,"minValues":{"a":$start},"maxValues":{"a":$start},"nullCount":{"a":0}}"""
    // In Berlin, at +00:53:28
    val file = ForeignTables.fileOf(parquet) { row => row.append("a", -3786828808000000L); () }
    val files = Seq.fill(2)(file.copy(stats = Some(stats)))
    val path = ForeignTables.tableOf("odd-offsets", new StructType().add("a", TimestampType))(files: _*)
    assert(optimize(path)._1 == "splice")
    val exact = "\"1849-12-31T23:06:32.000Z\""
    assert(
      statsOf(
        path
      ) == s"""{"numRecords":2,"minValues":{"a":$exact},"maxValues":{"a":$exact},"nullCount":{"a":0}}"""
    )
  }
}
