package org.apache.spark.sql.delta.upkeep.splice

import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT32
import org.apache.parquet.schema.Type.Repetition
import org.apache.parquet.schema.Types
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestSession}
import org.apache.spark.sql.types.{IntegerType, StructField, StructType}

/** OPTIMIZE of columns whatever their names are. */
class ColumnNamesSuite extends AnyFunSuite {
  import ForeignTables._
  import TestSession.{root, spark}

  private val names =
    Seq("my col", "a,b", "a;b", "{a", "a}", "x(y)", "pclass=1", "t\tb", "n\nl", "a.b", "`", "\"", "ünï")

  test("files of others, in a table without column mapping") {
    val parquet = Types
      .buildMessage()
      .addFields(names.map(Types.primitive(INT32, Repetition.OPTIONAL).named(_)): _*)
      .addField(
        Types
          .buildGroup(Repetition.OPTIONAL)
          .addFields(names.map(Types.primitive(INT32, Repetition.OPTIONAL).named(_)): _*)
          .named("s")
      )
      .named("spark_schema")
    val fields = StructType(names.map(StructField(_, IntegerType)))
    val files = (1 to 3).map { i =>
      fileOf(parquet) { row =>
        names.foreach(row.append(_, i))
        val struct = row.addGroup("s")
        names.foreach(struct.append(_, 10 * i))
      }
    }
    val path = tableOf("foreignNames", fields.add("s", fields))(files: _*)
    assert(optimize(path)._1 == "splice")
    val rows = rowsOf(path).sortBy(_.getInt(0))
    assert(rows == (1 to 3).map(i => Row.fromSeq(names.map(_ => i) :+ Row.fromSeq(names.map(_ => 10 * i)))))
  }

  test("column mapping") {
    val path = s"$root/mappedNames"
    val columns = names.map(name => s"`${name.replace("`", "``")}` INT").mkString(", ")
    spark.sql(
      s"CREATE TABLE delta.`$path` ($columns, s STRUCT<$columns>) USING delta " +
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    (1 to 3).foreach { i =>
      val values = names.map(_ => i).mkString(", ")
      spark.sql(s"INSERT INTO delta.`$path` SELECT $values, struct($values)")
    }
    assert(optimize(path)._1 == "splice")
  }

  test("a name with a dot beside a struct that reads the same") {
    val parquet = Types
      .buildMessage()
      .optional(INT32).named("a.b")
      .addField(Types.buildGroup(Repetition.OPTIONAL).optional(INT32).named("b").named("a"))
      .named("spark_schema")
    val schema = new StructType().add("a.b", IntegerType).add("a", new StructType().add("b", IntegerType))
    val files = (1 to 3).map { i =>
      fileOf(parquet, "parquet.bloom.filter.enabled" -> "true") { row =>
        row.append("a.b", i)
        row.addGroup("a").append("b", 10 * i)
        ()
      }
    }
    val path = tableOf("dottedNames", schema)(files: _*)
    assert(optimize(path) == ("rows" -> "two columns have the name a.b"))
    assert(rowsOf(path, "`a.b` = 2").size == 1 && rowsOf(path, "a.b = 20").size == 1)
  }
}
