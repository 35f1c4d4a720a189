package org.apache.spark.sql.delta.upkeep.rewrite

import java.io.File

import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestSession}
import org.apache.spark.sql.types.{MetadataBuilder, StringType, StructType}

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

  private def byRows(path: String, settings: (String, String)*): Unit =
    TestSession.withConf(settings :+ ("spark.deltaUpkeep.optimize.engine" -> "rows"): _*) {
      spark.sql(s"OPTIMIZE delta.`$path`").collect()
      assert(DeltaLog.forTable(spark, path).update().numOfFiles == 1)
      ()
    }

  /** A table of two files with one row each of an expression. */
  private def tableOf(name: String)(value: Int => String): String = {
    val path = new File(root, s"stored-$name").toString
    for (i <- 1 to 2)
      spark.sql(s"SELECT ${value(i)} AS c").write.format("delta").mode("append").save(path)
    path
  }

  private def texts(path: String, expression: String): Seq[String] = {
    val rows = spark.read.format("delta").load(path).selectExpr(s"string($expression)").collect()
    rows.map(_.getString(0)).sorted.toSeq
  }

  test("the rows tier keeps microseconds, whatever new timestamps are cut to") {
    for (form <- Seq("TIMESTAMP_MILLIS", "INT96")) {
      val path = tableOf(s"micros-$form")(i => s"timestamp_micros($i)")
      byRows(path, "spark.sql.parquet.outputTimestampType" -> form)
      assert(texts(path, "unix_micros(c)") == Seq("1", "2"))
    }
  }

  test("the rows tier writes old dates, whatever the session does with them") {
    for (mode <- Seq("EXCEPTION", "LEGACY")) {
      val path = tableOf(s"dates-$mode")(i => s"DATE'1582-10-0${i + 5}'")
      byRows(path, "spark.sql.parquet.datetimeRebaseModeInWrite" -> mode)
      assert(texts(path, "c") == Seq("1582-10-06", "1582-10-07"))
    }
  }

  test("the rows tier pads no text that another writer stored without blanks") {
    val char = new MetadataBuilder().putString("__CHAR_VARCHAR_TYPE_STRING", "char(5)").build()
    val schema = new StructType().add("c", StringType, nullable = true, char)
    val parquet = MessageTypeParser.parseMessageType("message m { optional binary c (STRING); }")
    val files =
      (1 to 2).map(i => ForeignTables.fileOf(parquet) { row => row.append("c", s"a$i"); () })
    val path = ForeignTables.tableOf("stored-char", schema)(files: _*)
    byRows(path)
    TestSession.withConf("spark.sql.readSideCharPadding" -> "false") {
      assert(texts(path, "length(c)") == Seq("2", "2"))
    }
  }

  test("the rows tier leaves no file out that the session would") {
    val path = new File(root, "stored-corrupt").toString
    for (i <- 1 to 2) spark.range(i.toLong).coalesce(1).write.format("delta").mode("append").save(path)
    val file = new File(path).listFiles().filter(_.getName.endsWith(".parquet")).minBy(_.getName)
    assert(file.delete())
    TestSession.withConf(
      "spark.sql.files.ignoreMissingFiles" -> "true",
      "spark.deltaUpkeep.optimize.engine" -> "rows"
    )(intercept[Exception](spark.sql(s"OPTIMIZE delta.`$path`").collect()))
    assert(DeltaLog.forTable(spark, path).update().version == 1)
  }

  test("a comparison reads the values that the files hold") {
    assertKept(newTable("stored-compared"))
  }
}
