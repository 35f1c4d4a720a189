package org.apache.spark.sql.delta.upkeep.splice

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.upkeep.TestSession

/** Lists whose elements are all null over whole pages, beside others. */
class NullElementsSuite extends AnyFunSuite {
  import TestSession.{root, spark}

  private def append(path: String, element: String): Unit =
    spark
      .range(0, 1000, 1, 1)
      .selectExpr(s"array_repeat(cast($element AS STRING), 15) AS a")
      .write
      .format("delta")
      .mode("append")
      .save(path)

  private def elements(path: String): Map[String, Long] =
    spark.read.format("delta").load(path).selectExpr("explode(a) AS e").groupBy("e").count().collect()
      .map(row => row.getString(0) -> row.getLong(1)).toMap

  Seq(
    "before pages of a dictionary" -> Seq("NULL", "'x'"),
    "between pages of a dictionary" -> Seq("'x'", "NULL", "'y'"),
    "after pages of a dictionary" -> Seq("'x'", "NULL"),
    "alone" -> Seq("NULL", "NULL")
  ).zipWithIndex.foreach { case ((place, values), index) =>
    test(s"pages of null elements $place are read by Spark") {
      val path = new File(root, s"null-elements-$index").toString
      values.foreach(append(path, _))
      val before = elements(path)
      spark.conf.set("parquet.page.row.count.limit", "100")
      try {
        val result = spark.sql(s"OPTIMIZE delta.`$path`").collect().head
        assert(
          result.getSeq[Row](result.fieldIndex("bins")).map(_.getAs[String]("tier")) == Seq("splice"),
          result
        )
      } finally spark.conf.unset("parquet.page.row.count.limit")
      assert(elements(path) == before)
    }
  }
}
