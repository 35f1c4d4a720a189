package org.apache.spark.sql.delta.upkeep.splice

import java.io.File

import io.deltaupkeep.parquet.file.{PlacedRows, SpliceOutcome}
import io.deltaupkeep.parquet.plan.ChunkTier
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.Type.Repetition
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.spark.{ChunkBounds, ParquetReading}

/** Some rows of a new file and of its inputs are read and compared. */
class SpotCheckSuite extends AnyFunSuite {
  import TestSession.{root, spark}

  private def fileOf(name: String, rows: DataFrame): SpliceInput = {
    val directory = new File(root, name)
    rows.coalesce(1).write.parquet(directory.toString)
    val file = directory.listFiles().filter(_.getName.endsWith(".parquet")).head
    SpliceInput(file.toURI.toString, file.length, file.lastModified)
  }

  private def everyType(from: Long): DataFrame = spark
    .range(from, from + 50000)
    .selectExpr(
      "id",
      "CAST(id AS STRING) AS s",
      "CAST(id AS DECIMAL(30, 3)) AS d",
      "date_add(DATE'2020-01-01', CAST(id % 99 AS INT)) AS day",
      "timestamp_micros(id) AS t",
      "IF(id % 3 = 0, DOUBLE('NaN'), DOUBLE(id)) AS f",
      "IF(id % 5 = 0, NULL, id % 2 = 0) AS b",
      "CAST(CAST(id AS STRING) AS BINARY) AS bytes",
      "named_struct('x', id, 'y', array(id, NULL)) AS nested",
      "map(CAST(id AS STRING), named_struct('z', id)) AS m"
    )

  /** Both files are said to be in the new one, one after another. */
  private def findingIn(output: SpliceInput, inputs: SpliceInput*): Option[Finding] = {
    val schema = spark.read.parquet(output.uri).schema
    val check = new SparkSpotCheck(
      ParquetReading.of(schema, spark.sessionState.conf, byId = false),
      more = 2,
      mostBytes = 1 << 20
    )
    val placed = inputs.indices.map(PlacedRows(_, 0, 50000, 50000))
    val done =
      SpliceOutcome.Done(100000, placed, 2, 1, ChunkTier.Splice, "", Map.empty, None, kinds = Seq(0))
    check.findingIn(output, inputs.toIndexedSeq, done, spark.sessionState.newHadoopConf())
  }

  test("rows of every type are found where they should be, and nowhere else") {
    val (first, second) = (fileOf("spot-1", everyType(0)), fileOf("spot-2", everyType(50000)))
    val both = fileOf("spot-both", everyType(0).coalesce(1).union(everyType(50000).coalesce(1)))
    (1 to 5).foreach(_ => assert(findingIn(both, first, second).isEmpty))
    assert(findingIn(both, second, first).exists(_.text.contains("has another value in column id than row")))
  }

  test("a value beyond the bounds of its row group or of its page is found") {
    val int = new PrimitiveType(Repetition.REQUIRED, PrimitiveTypeName.INT32, "a")
    def bounds(min: Byte, max: Byte): Statistics[_] = Statistics
      .getBuilderForReading(int)
      .withMin(Array(min, 0, 0, 0))
      .withMax(Array(max, 0, 0, 0))
      .build()
    val column = ChunkBounds(Some(bounds(1, 9)), Some(Seq(bounds(1, 3), bounds(5, 9))))
    assert(Seq(1, 3, 5, 9).forall(column.allow) && !Seq(0, 4, 10).exists(column.allow))
    assert(!ChunkBounds(None, Some(Nil)).allow(1), "a page of nulls")
    assert(ChunkBounds(None, None).allow(1) && ChunkBounds(Some(Statistics.createStats(int)), None).allow(1))
  }

  test("files are older than the column mapping of their table") {
    val path = new File(root, "spot-mapped").toString
    for (i <- 1 to 2) spark.range(i.toLong).coalesce(1).write.format("delta").mode("append").save(path)
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', " +
        "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
    )
    val bin = spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").head()
    assert(bin.getAs[String]("tier") == "splice" && !bin.getAs[String]("reason").contains("spot check"), bin)
  }
}
