package org.apache.spark.sql.delta.upkeep.splice

import java.io.File

import io.deltaupkeep.parquet.merge.RepeatedValueFile

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.upkeep.TestSession

class SpliceMemoryOnSparkSuite extends AnyFunSuite {
  import TestSession._
  import spark.implicits._

  test("small files whose rows are 5 GB are merged within the heap of a test") {
    val directory = new File(root, "repeatedValues")
    assert(directory.mkdir())
    // Five of the values fit into a dictionary, and their files fill a page of 20,000 rows.
    val (files, times, length) = (6, 4000, 200000)
    ('a' until ('a' + files).toChar).foreach { letter =>
      RepeatedValueFile.write(new File(directory, s"$letter.parquet").toPath, letter.toString * length, times)
    }
    assert(directory.listFiles.forall(_.length < 20000))
    spark.sql(s"CONVERT TO DELTA parquet.`$directory` NO STATISTICS")
    def rows = spark.read.format("delta").load(directory.toString)
      .selectExpr("substr(text, 1, 1) AS letter", "octet_length(text) AS length")
      .groupBy("letter", "length").count()
      .as[(String, Int, Long)].collect().toSet
    val before = rows
    // The check of rows reads them all, and Spark's reader is not what is tested.
    spark.conf.set("spark.deltaUpkeep.optimize.verify", "false")
    spark.conf.set("spark.deltaUpkeep.optimize.bytesInFlight", "16m")
    try {
      val bins = spark.sql(s"OPTIMIZE delta.`$directory`").selectExpr("inline(bins)")
      assert(bins.select("tier").as[String].collect().toSeq == Seq("splice"))
    } finally {
      spark.conf.set("spark.deltaUpkeep.optimize.verify", "true")
      spark.conf.unset("spark.deltaUpkeep.optimize.bytesInFlight")
    }
    assert(before == ('a' to 'f').map(letter => (letter.toString, length, times.toLong)).toSet)
    assert(rows == before)
  }
}
