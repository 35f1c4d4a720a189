package org.apache.spark.sql.delta.upkeep

import java.io.File

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Files that Spark's vectorized reader misreads are rewritten with the values they hold. */
class StoredRowsSuite extends AnyFunSuite {
  import TestSession.{root, spark}

  private val expected = (0 until 10).map(i => s"text $i")

  /** Two files whose strings are DELTA_BYTE_ARRAY in pages that are not compressed. */
  private def newTable(name: String): String = {
    val path = new File(root, name).toString
    Seq(0 -> 5, 5 -> 10).foreach { case (from, to) =>
      spark
        .range(from, to, 1, 1)
        .selectExpr("concat('text ', id) AS a")
        .write
        .format("delta")
        .mode("append")
        .options(Map("parquet.writer.version" -> "v2", "compression" -> "none"))
        .save(path)
    }
    path
  }

  private def values(path: String): Seq[String] =
    spark.read.format("delta").load(path).select("a").collect().map(_.getString(0)).sorted.toSeq

  private def withConf(key: String, value: String)(body: => Assertion): Assertion = {
    spark.conf.set(key, value)
    try body
    finally spark.conf.unset(key)
  }

  private def assertKept(path: String): Assertion = {
    assert(spark.sql(s"OPTIMIZE delta.`$path`").head().getAs[Boolean]("verified"))
    withConf("spark.sql.parquet.enableVectorizedReader", "false")(assert(values(path) == expected))
  }

  test("Spark misreads such files: when it does not, StoredRows may read them as Spark does by default") {
    assert(values(newTable("stored-misread")) != expected)
  }

  test("the rows tier writes the values that the files hold") {
    val path = newTable("stored-rows-tier")
    withConf("spark.deltaUpkeep.optimize.engine", "rows")(assertKept(path))
  }

  test("what Spark reads well before a copy, it reads well after") {
    val path = newTable("stored-copy")
    // As other writers leave files.
    new File(path).listFiles().filter(_.getName.endsWith(".crc")).foreach(_.delete())
    assert(values(path) == expected)
    withConf("parquet.block.size", "4")(assertKept(path))
    assert(values(path) == expected)
  }

  test("the rows tier keeps microseconds, whatever new timestamps are cut to") {
    val path = new File(root, "stored-micros").toString
    for (i <- 1 to 2)
      spark.sql(s"SELECT timestamp_micros($i) AS at").write.format("delta").mode("append").save(path)
    withConf("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS") {
      withConf("spark.deltaUpkeep.optimize.engine", "rows") {
        assert(spark.sql(s"OPTIMIZE delta.`$path`").head().getAs[Boolean]("verified"))
      }
    }
    val micros = spark.read.format("delta").load(path).selectExpr("unix_micros(at)").collect()
    assert(micros.map(_.getLong(0)).sorted.toSeq == Seq(1L, 2L))
  }

  test("a comparison reads the values that the files hold") {
    assertKept(newTable("stored-compared"))
  }
}
