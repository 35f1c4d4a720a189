package org.apache.spark.sql.delta.upkeep

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog

/** Tables of Delta whose statistics do not say exactly what their files hold. */
class OddStatisticsSuite extends AnyFunSuite {
  import ForeignTables.optimize
  import TestSession.{root, spark, withConf}

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

  test("offsets of local mean time have seconds") {
    withConf("spark.sql.session.timeZone" -> "Europe/Berlin") {
      val path = newTable("odd-offsets", "a TIMESTAMP")(
        "TIMESTAMP '1850-01-01 00:00:00'",
        "TIMESTAMP '1850-01-02 00:00:00'"
      )
      assert(optimize(path)._1 == "splice")
    }
  }
}
