package org.apache.spark.sql.delta.upkeep.spark

import scala.collection.mutable
import scala.util.{Random, Using}

import io.deltaupkeep.FuzzSeeds
import org.apache.hadoop.fs.{FileStatus, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.MapData
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.read.CheckpointRows
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.functions.{col, expr, struct, when}
import org.apache.spark.sql.types.{DataType, MapType, StructType}

/** Columns of checkpoints hold what was written into them. */
class ParquetColumnsSuite extends AnyFunSuite {
  import TestSession._

  private val conf = spark.sessionState.newHadoopConf()
  private val log = StructType(Seq("add", "remove", "txn").map(Action.logSchema(_)))

  private def fileOf(rows: DataFrame, name: String, options: Map[String, String]): FileStatus = {
    val path = new Path(new java.io.File(root, name).toString)
    rows.coalesce(1).write.options(options).parquet(path.toString)
    path.getFileSystem(conf).listStatus(path).find(_.getPath.getName.endsWith(".parquet")).get
  }

  private def byRecords(file: FileStatus, columns: StructType): Seq[String] =
    new CheckpointRows(columns, spark.asInstanceOf[ClassicSession], conf).in(file).map(textOf(_, columns)).toVector

  private def byColumns(file: FileStatus, columns: StructType): Option[Seq[String]] =
    Using.resource(new ParquetColumns(file, conf)) { opened =>
      opened.find(columns).map { found =>
        collect(0 until found.rowGroups)(found.foreach(_)(_), columns)
      }
    }

  private def collect(rowGroups: Seq[Int])(
      each: (Int, InternalRow => Unit) => Unit,
      columns: StructType
  ): Seq[String] = {
    val found = mutable.ArrayBuffer.empty[String]
    rowGroups.foreach(each(_, row => found += textOf(row, columns)))
    found.toSeq
  }

  /** Those rows alone whose first columns pass a test. */
  private def someByColumns(file: FileStatus, keys: StructType, columns: StructType): Seq[String] =
    Using.resource(new ParquetColumns(file, conf)) { opened =>
      val (first, all) = (opened.find(keys).get, opened.find(columns).get)
      collect(0 until all.rowGroups)(
        (i, use) => all.foreach(i, first.where(i)(row => isWanted(textOf(row, keys))))(use),
        columns
      )
    }

  private def isWanted(text: String): Boolean = text.hashCode % 5 == 0

  /**
   * What went into a file. Spark's reader of records is no oracle: of texts with DELTA_BYTE_ARRAY in pages without a
   * codec, it makes others.
   */
  private def written(rows: DataFrame): Seq[String] =
    rows.queryExecution.executedPlan.executeCollect().map(textOf(_, rows.schema)).toSeq

  private def structOf(name: String, fields: Seq[String]): Column =
    when(col(name).isNotNull, struct(fields.map(field => col(s"$name.$field")): _*)).as(name)

  private def textOf(row: InternalRow, columns: StructType): String = row.toSeq(columns).zip(columns).map {
    case (value, field) => textOf(value, field.dataType)
  }.mkString("|")

  private def textOf(value: Any, dataType: DataType): String =
    (value, dataType) match {
      case (null, _) => "null"
      case (row: InternalRow, fields: StructType) => s"{${textOf(row, fields)}}"
      case (map: MapData, _) =>
        val (keys, values) = (map.keyArray(), map.valueArray())
        (0 until map.numElements()).map(i => s"${keys.getUTF8String(i)}=${values.getUTF8String(i)}").mkString(
          "(",
          ",",
          ")"
        )
      case (other, _) => other.toString
    }

  /** Actions with every field that Delta's log has, each of them null or empty at times. */
  private def actions(seed: Long, rows: Int): DataFrame = {
    def dice(salt: Int, sides: Int) = s"pmod(xxhash64(id, ${seed}L, $salt), $sides)"
    def valueOf(name: String, dataType: DataType, salt: Int): String =
      dataType match {
        case fields: StructType =>
          val inner = fields.zipWithIndex.map { case (field, i) =>
            s"'${field.name}', ${valueOf(field.name, field.dataType, salt * 31 + i + 1)}"
          }
          s"if(${dice(salt, 3)} = 0, null, named_struct(${inner.mkString(", ")}))"
        case _: MapType =>
          val texts =
            "map('a', '1')" +: "map('a', cast(null as string), 'b', '')" +: "map('', 'é', 'b', 'x', 'c', 'y')" +: Nil
          s"""case ${dice(salt, 5)} when 0 then null when 1 then cast(map() as map<string,string>)
           | when 2 then ${texts(0)} when 3 then ${texts(1)} else ${texts(2)} end""".stripMargin
        case other => s"if(${dice(salt, 4)} = 0, null, cast(xxhash64(id, $salt) % 1000 as ${other.sql}))"
      }
    spark.range(0, rows, 1, 1).select(log.zipWithIndex.map { case (column, i) =>
      expr(valueOf(column.name, column.dataType, i + 1)).as(column.name)
    }: _*)
  }

  test("values are those that were written, however the file stores them") {
    FuzzSeeds(6).foreach { seed =>
      withClue(FuzzSeeds.clue(seed)) {
        val random = new Random(seed)
        val options = Map(
          "parquet.block.size" -> (if (random.nextBoolean()) "20000" else "10000000"),
          "parquet.page.size" -> (if (random.nextBoolean()) "512" else "1048576"),
          "parquet.enable.dictionary" -> random.nextBoolean().toString,
          "parquet.writer.version" -> (if (random.nextBoolean()) "v1" else "v2"),
          "compression" -> Seq("snappy", "zstd", "uncompressed")(random.nextInt(3))
        )
        val rows = actions(seed, random.nextInt(3000))
        val file = fileOf(rows, s"columns-$seed", options)
        val add = log("add").dataType.asInstanceOf[StructType]
        val some = StructType(random.shuffle(add.toList).take(1 + random.nextInt(add.size)))
        val columns = StructType(Seq(log("txn"), log("add").copy(dataType = some)))
        val picked = rows.select(col("txn"), structOf("add", some.fieldNames.toSeq))
        assert(byColumns(file, columns).contains(written(picked)))
        assert(byColumns(file, log).contains(written(rows)))
        val keys = StructType(columns.take(1))
        val wanted =
          written(picked.select("txn")).zip(written(rows)).collect { case (key, row) if isWanted(key) => row }
        assert(someByColumns(file, keys, log) == wanted)
      }
    }
  }

  test("columns that a file lacks are null, and a file without any of them has no rows") {
    val file =
      fileOf(actions(1, 20).select(col("add").dropFields("tags", "stats").as("add")), "lacking", Map.empty)
    assert(byColumns(file, log).contains(byRecords(file, log)))
    assert(byColumns(file, StructType(Seq(log("txn")))).contains(Nil))
  }

  test("what is stored in another way is left to Spark's reader") {
    val odd = Seq(
      "named_struct('path', 'a', 'size', 1)",
      "named_struct('path', 'a', 'partitionValues', named_struct('p', '1'))",
      "named_struct('path', array('a'))",
      "named_struct('path', 'a', 'tags', map('a', 1))",
      "array(named_struct('path', 'a'))"
    )
    odd.zipWithIndex.foreach { case (add, i) =>
      val file = fileOf(spark.range(1).select(expr(add).as("add")), s"odd-$i", Map.empty)
      assert(byColumns(file, StructType(Seq(log("add")))).isEmpty, add)
    }
  }
}
