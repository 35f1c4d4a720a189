package org.apache.spark.sql.delta.upkeep.rewrite

import java.io.File

import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestSession}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.functions.{max, min}
import org.apache.spark.sql.types._

/** Files that lack a column with a default: readers supply it. */
class DefaultsSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import ForeignTables._
  import TestSession.{root, spark, withConf}

  private val kinds = Table(
    ("type", "default"),
    ("ARRAY<INT>", "array(1, 2)"),
    ("STRUCT<x: INT, y: STRUCT<z: STRING>>", "named_struct('x', 1, 'y', named_struct('z', 'a'))"),
    ("MAP<STRING, INT>", "map('a', 1)")
  )

  test("a default of a nested type stays what readers supply") {
    forAll(kinds) { (kind, default) =>
      val name = s"defaults_${kind.replaceAll("\\W+", "_")}"
      val path = new File(root, name).getAbsolutePath
      spark.range(0, 4, 1, 2).write.parquet(path)
      spark.sql(s"CREATE TABLE $name (id BIGINT) USING parquet LOCATION '$path'")
      try {
        spark.sql(s"ALTER TABLE $name ADD COLUMN c $kind DEFAULT $default")
        spark.sql(s"CONVERT TO DELTA $name NO STATISTICS")
        assert(rowsOf(path, "c IS NOT NULL").size == 4)
        val reason = "column c is missing from a file, so readers supply its default"
        // In batches, Spark reads the default of a map for the first row only.
        withConf("spark.sql.parquet.enableVectorizedReader" -> "false") {
          assert(optimize(path) == ("rows" -> reason))
        }
      } finally spark.sql(s"DROP TABLE $name")
    }
  }

  test("readers supply no default of a field, whatever has one of the same name") {
    val default = new MetadataBuilder().putString(EXISTS_DEFAULT_COLUMN_METADATA_KEY, "7").build()
    val inner = new StructType().add("a", IntegerType).add("x", IntegerType, nullable = true, default)
    val schema = new StructType()
      .add("x", IntegerType, nullable = true, default)
      .add("s", inner)
      .add("l", ArrayType(inner))
    val parquet = MessageTypeParser.parseMessageType(
      "message m { optional int32 x; optional group s { optional int32 a; } " +
        "optional group l (LIST) { repeated group list { optional group element { optional int32 a; } } } }"
    )
    val files = (1 to 2).map { i =>
      fileOf(parquet) { row =>
        row.append("x", i).addGroup("s").append("a", i)
        row.addGroup("l").addGroup("list").addGroup("element").append("a", i)
        ()
      }
    }
    assert(optimize(tableOf("defaultsOfFields", schema)(files: _*))._1 == "splice")
  }

  test("files that lack another column keep what they hold, however Spark reads them") {
    val default = new MetadataBuilder().putString(EXISTS_DEFAULT_COLUMN_METADATA_KEY, "7").build()
    val schema = new StructType()
      .add("id", IntegerType)
      .add("later", IntegerType)
      .add("x", IntegerType, nullable = true, default)
    val parquet =
      MessageTypeParser.parseMessageType("message m { optional int32 id; optional int32 x; }")
    val files = (1 to 2).map { i =>
      fileOf(parquet)(row => { row.append("id", i); () }, row => { row.append("id", -i).append("x", i); () })
    }
    for (engine <- Seq("auto", "rows")) {
      val path = tableOf(s"defaultsAndOthers-$engine", schema)(files: _*)
      val before = rowsOf(path)
      assert(before.map(_.get(2)).toSet == Set[Any](null, 1, 2))
      val bin = withConf(
        "spark.sql.parquet.enableVectorizedReader" -> "false",
        "spark.deltaUpkeep.optimize.engine" -> engine
      )(spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").head())
      assert(bin.getAs[String]("tier") == (if (engine == "auto") "splice" else engine))
      assert(!bin.getAs[String]("reason").contains("spot check"), bin)
      assert(rowsOf(path).toSet == before.toSet)
    }
  }

  private val mappings = Table("mapping", "none", "name", "id")

  test("files that lack columns are rewritten with their own defaults, however Spark reads them") {
    def column(id: Int, default: Option[String]): Metadata = {
      val all = new MetadataBuilder()
        .putLong("delta.columnMapping.id", id.toLong)
        .putString("delta.columnMapping.physicalName", s"p$id")
      default.fold(all)(all.putString(EXISTS_DEFAULT_COLUMN_METADATA_KEY, _)).build()
    }
    forAll(mappings) { mapping =>
      def name(id: Int): String = if (mapping == "id") s"old$id" else s"p$id"
      val names = if (mapping == "none") Seq("p1", "p2", "p3") else Seq("a", "b.`c", "d")
      val schema = new StructType()
        .add(names.head, IntegerType, nullable = true, column(1, None))
        .add(names(1), DecimalType(20, 2), nullable = true, column(2, Some("1.50BD")))
        .add(names(2), IntegerType, nullable = true, column(3, Some("7")))
      def file(ids: Int*)(rows: (Group => Unit)*): ForeignFile = {
        val types = Map(
          1 -> "optional int32",
          2 -> "optional fixed_len_byte_array(9)",
          3 -> "optional int32"
        )
        val columns = ids.map { id =>
          val kind = if (id == 2) " (DECIMAL(20, 2))" else ""
          s"${types(id)} ${name(id)}$kind = $id;"
        }
        fileOf(MessageTypeParser.parseMessageType(columns.mkString("message m { ", " ", " }")))(rows: _*)
      }
      def add(id: Int, value: Int)(row: Group): Unit = { row.append(name(id), value); () }
      val files = Seq(
        file(1, 3)(add(1, 1)(_), row => { add(1, 2)(row); add(3, 20)(row) }),
        file(1)(add(1, 3)(_)),
        file(2, 3)(add(3, 40)(_), _ => ())
      )
      val expected = Set("1|1.50|null", "2|1.50|20", "3|1.50|7", "null|null|40", "null|null|null")
      for (batches <- Seq("true", "false")) {
        val properties = if (mapping == "none") Nil else Seq("delta.columnMapping.mode" -> mapping)
        val path = tableOf(s"defaults-$mapping-$batches", schema, properties: _*)(files: _*)
        withConf(
          "spark.sql.parquet.enableVectorizedReader" -> batches,
          "spark.deltaUpkeep.optimize.engine" -> "rows"
        )(spark.sql(s"OPTIMIZE delta.`$path`").collect())
        assert(DeltaLog.forTable(spark, path).update().numOfFiles == 1)
        assert(rowsOf(path).map(_.mkString("|")).toSet == expected, batches)
        val handle = DeltaHandle.of(spark, DeltaTableV2(spark, new Path(path)).update(), None)
        val written = handle.snapshot.allFiles.collect().toSeq
        assert(new RowComparison(handle).differences(written, Nil) == names :+ RowComparison.Rows)
      }
    }
  }

  private val sevenByDefault: Metadata =
    new MetadataBuilder().putString(EXISTS_DEFAULT_COLUMN_METADATA_KEY, "7").build()

  test("a file without the ids by which the table finds columns keeps what it holds") {
    def mapped(id: Int) = new MetadataBuilder()
      .putLong("delta.columnMapping.id", id.toLong)
      .putString("delta.columnMapping.physicalName", s"p$id")
    val schema = new StructType()
      .add("a", IntegerType, nullable = true, mapped(1).build())
      .add("x", IntegerType, nullable = true, mapped(2).withMetadata(sevenByDefault).build())
    val parquet = MessageTypeParser.parseMessageType("message m { optional int32 p1; optional int32 p2; }")
    val files = (1 to 2).map(i => fileOf(parquet) { row => row.append("p1", i).append("p2", i); () })
    val path = tableOf("defaultsWithoutIds", schema, "delta.columnMapping.mode" -> "id")(files: _*)
    for (engine <- Seq("rows", "auto"); isIgnored <- Seq("false", "true")) {
      val bins = withConf(
        "spark.deltaUpkeep.optimize.engine" -> engine,
        "spark.deltaUpkeep.optimize.spotCheck" -> "-1",
        "spark.sql.parquet.fieldId.read.ignoreMissing" -> isIgnored
      )(spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").collect())
      assert(bins.map(_.getAs[String]("status")).toSeq == Seq("left"), bins.mkString)
      assert(bins.head.getAs[String]("reason").toLowerCase.contains("field ids"), bins.mkString)
      assert(DeltaLog.forTable(spark, path).update().version == 0)
    }
  }

  test("a file with a struct that has none of the table's fields is left alone, beside a default") {
    val inner = new StructType().add("b", IntegerType)
    val parquet = Seq(
      inner -> "optional group s { optional int32 a; }",
      ArrayType(
        inner
      ) -> "optional group s (LIST) { repeated group list { optional group element { optional int32 a; } } }",
      new StructType().add("b", inner) -> "optional group s { optional group b { optional int32 a; } }"
    )
    for (((dataType, column), i) <- parquet.zipWithIndex) {
      val schema =
        new StructType().add("s", dataType).add("x", IntegerType, nullable = true, sevenByDefault)
      val stored = MessageTypeParser.parseMessageType(s"message m { $column optional int32 x; }")
      val files = (1 to 2).map(x => fileOf(stored)(row => { row.append("x", x); () }))
      val path = tableOf(s"defaultsBesideStruct$i", schema)(files: _*)
      val bins = withConf(
        "spark.sql.parquet.enableVectorizedReader" -> "false",
        "spark.deltaUpkeep.optimize.engine" -> "rows"
      )(spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").collect())
      assert(bins.map(_.getAs[String]("status")).toSeq == Seq("left"), bins.mkString)
      assert(bins.head.getAs[String]("reason").contains("has s without any"), bins.mkString)
      assert(DeltaLog.forTable(spark, path).update().version == 0)
    }
  }

  test("rows of files that lack different columns are put in one order") {
    val schema =
      new StructType().add("id", IntegerType).add("x", IntegerType, nullable = true, sevenByDefault)
    def file(columns: String, ids: Seq[Int]) =
      fileOf(MessageTypeParser.parseMessageType(s"message m { $columns }"))(
        ids.map(id => (row: Group) => { row.append("id", id); () }): _*
      )
    val path = tableOf("defaultsInOrder", schema)(
      file("optional int32 id;", 0 until 2000),
      file("optional int32 id; optional int32 x;", 5000 until 7000)
    )
    val bytes = DeltaLog.forTable(spark, path).update().sizeInBytes
    withConf("spark.databricks.delta.optimize.maxFileSize" -> (bytes / 4).toString) {
      spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id)").collect()
    }
    val ranges = spark.read.format("delta").load(path)
      .groupBy("_metadata.file_name").agg(min("id"), max("id")).collect()
      .map(row => row.getInt(1) -> row.getInt(2))
    assert(ranges.length > 2)
    // At most the file in the middle may hold rows of both.
    assert(ranges.count { case (least, most) => least < 2000 && most >= 5000 } <= 1, ranges.mkString)
  }
}
