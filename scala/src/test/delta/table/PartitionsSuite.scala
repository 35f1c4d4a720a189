package org.apache.spark.sql.delta.upkeep.table

import java.io.File
import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{AddFile, Metadata}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.types.StructType

/** No two partitions become one, whatever their values look like. */
class PartitionsSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import TestSession._

  private def tableOf(name: String, partitionedBy: String): String = {
    val path = new File(root, s"partitions-$name").getAbsolutePath
    val columns = StructType.fromDDL(partitionedBy).fieldNames.mkString(", ")
    spark.sql(
      s"CREATE TABLE delta.`$path` (id BIGINT, $partitionedBy) USING delta PARTITIONED BY ($columns)"
    )
    path
  }

  private lazy val dataFile: Array[Byte] = {
    val directory = new File(root, "partitions-data")
    spark.range(7, 8).coalesce(1).write.parquet(directory.toString)
    Files.readAllBytes(directory.listFiles().find(_.getName.endsWith(".parquet")).get.toPath)
  }

  /** Adds a file for each of some partition values, spelled in the log as other writers may spell them. */
  private def appendSpelled(path: String, values: Map[String, String]*): Unit = {
    val adds = values.zipWithIndex.map { case (spelled, i) =>
      Files.write(new File(path, s"$i.parquet").toPath, dataFile)
      AddFile(s"$i.parquet", spelled, dataFile.length.toLong, i.toLong, dataChange = true).json
    }
    Files.writeString(new File(path, f"_delta_log/${1}%020d.json").toPath, adds.mkString("\n"))
    ()
  }

  /** In the zone of a session: what it reads of timestamps hangs on that. */
  private def rowsOf(path: String, zone: String): Seq[Row] = withZone(zone) {
    val partitions = DeltaLog.forTable(spark, path).update().metadata.partitionColumns
    val texts = partitions.map(column => s"cast($column as string)")
    spark.read.format("delta").load(path).selectExpr("id" +: texts: _*).collect().toSeq.sortBy(_.toString)
  }

  private def withZone[T](zone: String)(body: => T): T = {
    spark.conf.set("spark.sql.session.timeZone", zone)
    try body
    finally spark.conf.unset("spark.sql.session.timeZone")
  }

  /** Compacts, and asserts that every session reads the rows as before; returns the texts of what was rewritten. */
  private def optimized(path: String, zone: String = "UTC"): Seq[String] = {
    val zones = Seq("UTC", "America/New_York")
    val before = zones.map(rowsOf(path, _))
    val bins =
      withZone(zone)(spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("explode(bins.partition)").collect())
    assert(zones.map(rowsOf(path, _)) == before)
    bins.map(_.getString(0)).sorted.toSeq
  }

  test("null and the string null") {
    val path = tableOf("null", "p STRING")
    for (_ <- 1 to 2) spark.sql(s"INSERT INTO delta.`$path` VALUES (1, NULL), (2, 'null')")
    assert(optimized(path) == Seq("p='null'", "p=null"))
  }

  test("values that look like a part of the next column") {
    val path = tableOf("comma", "a STRING, b STRING")
    val values = Seq(Map("a" -> "x, b=y", "b" -> "z"), Map("a" -> "x", "b" -> "y, b=z"))
    appendSpelled(path, values ++ values: _*)
    assert(optimized(path) == Seq("a='x, b=y', b=z", "a=x, b='y, b=z'"))
  }

  test("the hour that a time zone repeats") {
    val path = tableOf("repeatedHour", "at TIMESTAMP")
    val spellings = Seq("05", "06").map(hour => Map("at" -> s"2021-11-07T$hour:30:00.000000Z"))
    appendSpelled(path, spellings ++ spellings: _*)
    assert(optimized(path, "America/New_York").size == 2)
  }

  test("values that Delta's writer does not give back, by rows") {
    val path = tableOf("byRows", "p STRING, at TIMESTAMP")
    val spellings = for {
      p <- Seq("__HIVE_DEFAULT_PARTITION__", "", null)
      at <- Seq("2021-11-07T05:30:00.000000Z", "2021-11-07T06:30:00.000000Z", "0300-01-01 00:00:00")
    } yield Map("p" -> p, "at" -> at)
    appendSpelled(path, spellings ++ spellings: _*)
    withConf("spark.deltaUpkeep.optimize.engine" -> "rows") {
      assert(optimized(path, "America/New_York").size == spellings.size)
    }
  }

  test("spellings that are read alike are one partition, others stay apart") {
    val cases = Table(
      ("type", "one spelling", "another", "partitions"),
      ("INT", "1", "01", 1),
      ("INT", "1", "2", 2),
      ("INT", "one", "eins", 2),
      ("DECIMAL(9, 2)", "1.0", "1.00", 1),
      ("DATE", "2021-01-02", "2021-1-2", 1),
      ("BOOLEAN", "true", "TRUE", 1),
      ("DOUBLE", "NaN", "nan", 1),
      ("DOUBLE", "0.0", "-0.0", 2),
      ("DOUBLE", "1.0", "1e0", 1),
      ("STRING", "1", "01", 2),
      ("STRING", "", "__HIVE_DEFAULT_PARTITION__", 2),
      ("STRING", "", null, 2),
      ("STRING", null, null, 1),
      ("BINARY", "a", "A", 2),
      ("TIMESTAMP", "2021-11-07 05:30:00Z", "2021-11-07T05:30:00.000000Z", 1),
      ("TIMESTAMP", "2021-11-07 05:30:00", "2021-11-07T05:30:00.0", 1),
      // Alike in UTC alone.
      ("TIMESTAMP", "2021-11-07 05:30:00", "2021-11-07 05:30:00Z", 2),
      ("TIMESTAMP_NTZ", "2021-11-07 05:30:00", "2021-11-07T05:30:00.0", 1)
    )
    forAll(cases) { (dataType, one, another, count) =>
      val schema = StructType.fromDDL(s"p $dataType")
      val partitions =
        new Partitions(Metadata(schemaString = schema.json, partitionColumns = Seq("p")))
      val found = Seq(one, another).map(value => AddFile("f", Map("p" -> value), 1, 1, dataChange = true))
      assert(found.map(partitions.of).distinct.size == count)
    }
  }

  test("values that other writers spell in their own ways") {
    val path = tableOf("spelled", "p INT, at TIMESTAMP")
    val spellings = for {
      p <- Seq("1", "01", "one", null)
      at <- Seq("2021-11-07 05:30:00", "2021-11-07 05:30:00Z", "2021-11-07T05:30:00.000000Z")
    } yield Map("p" -> p, "at" -> at)
    val partial = Seq(Map("at" -> "2021-11-07 05:30:00Z"))
    appendSpelled(path, spellings ++ partial ++ spellings: _*)
    assert(optimized(path) == Seq("1", "null", "one").flatMap(p =>
      Seq(s"p=$p, at=2021-11-07 05:30:00", s"p=$p, at=2021-11-07 05:30:00Z")
    ))
  }

  test("Z-order and health tell them apart too") {
    val path = tableOf("zOrder", "p STRING")
    for (_ <- 1 to 2) spark.sql(s"INSERT INTO delta.`$path` VALUES (1, NULL), (2, 'null')")
    val labels = spark.sql(s"DESCRIBE HEALTH delta.`$path`")
      .selectExpr("explode(details) as d").where("d.series = 'partition'").selectExpr("d.label").collect()
    assert(labels.map(_.getString(0)).toSeq == Seq("p='null'", "p=null"))
    val before = rowsOf(path, "UTC")
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id)")
    assert(rowsOf(path, "UTC") == before)
  }
}
