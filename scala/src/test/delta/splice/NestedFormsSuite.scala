package org.apache.spark.sql.delta.upkeep.splice

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.compact.Partition

import org.apache.parquet.example.data.Group
import org.apache.parquet.schema.{GroupType, MessageTypeParser}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.Type.Repetition
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestSession}
import org.apache.spark.sql.types.StructType

/** Every form of lists and maps that the Parquet format knows (LogicalTypes.md, 'Nested Types'), as Spark reads it. */
class NestedFormsSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import ForeignTables._
  import TestSession.spark

  private val spliced = "splice"
  private val byRows = "rows"

  private val forms = Table(
    ("form", "type of the column", "column in the file", "tier"),
    // 'Lists'
    (
      "nullable elements",
      "ARRAY<STRING>",
      "required group COLUMN (LIST) { repeated group list { optional binary element (STRING); } }",
      spliced
    ),
    (
      "elements that are not null",
      "ARRAY<STRING>",
      "optional group COLUMN (LIST) { repeated group list { required binary element (STRING); } }",
      spliced
    ),
    (
      "list of lists",
      "ARRAY<ARRAY<INT>>",
      "optional group COLUMN (LIST) { repeated group list { required group element (LIST) { " +
        "repeated group list { required int32 element; } } } }",
      spliced
    ),
    (
      "other names",
      "ARRAY<STRING>",
      "optional group COLUMN (LIST) { repeated group element { required binary str (STRING); } }",
      spliced
    ),
    (
      "Hive's names",
      "ARRAY<INT>",
      "optional group COLUMN (LIST) { repeated group bag { optional int32 array_element; } }",
      spliced
    ),
    (
      "a struct of one field of the same name",
      "ARRAY<STRUCT<element: INT>>",
      "optional group COLUMN (LIST) { repeated group list { optional group element { optional int32 element; } } }",
      spliced
    ),
    // Backward-compatibility rules 1 to 5
    ("rule 1", "ARRAY<INT>", "optional group COLUMN (LIST) { repeated int32 element; }", byRows),
    (
      "rule 2",
      "ARRAY<STRUCT<str: STRING, num: INT>>",
      "optional group COLUMN (LIST) { repeated group element { required binary str (STRING); required int32 num; } }",
      byRows
    ),
    (
      "rule 4, array",
      "ARRAY<STRUCT<str: STRING>>",
      "optional group COLUMN (LIST) { repeated group array { required binary str (STRING); } }",
      byRows
    ),
    (
      "rule 4, array around a struct",
      "ARRAY<STRUCT<b: STRUCT<c: INT>>>",
      "optional group COLUMN (LIST) { repeated group array { optional group b { optional int32 c; } } }",
      byRows
    ),
    (
      "rule 4, tuple",
      "ARRAY<STRUCT<b: STRUCT<c: INT>>>",
      "optional group COLUMN (LIST) { repeated group COLUMN_tuple { optional group b { optional int32 c; } } }",
      byRows
    ),
    (
      "rule 5",
      "ARRAY<STRING>",
      "optional group COLUMN (LIST) { repeated group element { optional binary str (STRING); } }",
      spliced
    ),
    (
      "a list of two levels in one of three",
      "ARRAY<ARRAY<STRUCT<b: INT>>>",
      "optional group COLUMN (LIST) { repeated group list { optional group element (LIST) { " +
        "repeated group array { optional int32 b; } } } }",
      byRows
    ),
    // No annotation
    ("repeated values", "ARRAY<INT>", "repeated int32 COLUMN;", byRows),
    (
      "repeated groups",
      "ARRAY<STRUCT<num: INT, str: STRING>>",
      "repeated group COLUMN { required int32 num; optional binary str (STRING); }",
      byRows
    ),
    (
      "a struct of a repeated field",
      "STRUCT<list: ARRAY<INT>>",
      "optional group COLUMN { repeated int32 list; }",
      byRows
    ),
    // 'Maps'
    (
      "map",
      "MAP<STRING, INT>",
      "required group COLUMN (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }",
      spliced
    ),
    (
      "map, other names",
      "MAP<STRING, INT>",
      "optional group COLUMN (MAP) { repeated group map { required binary str (STRING); required int32 num; } }",
      spliced
    ),
    (
      "map, names the other way around",
      "MAP<STRING, INT>",
      "optional group COLUMN (MAP) { repeated group key_value { required binary value (STRING); optional int32 key; } }",
      spliced
    ),
    (
      "MAP_KEY_VALUE",
      "MAP<STRING, INT>",
      "optional group COLUMN (MAP_KEY_VALUE) { repeated group map { required binary key (STRING); optional int32 value; } }",
      spliced
    ),
    (
      "MAP_KEY_VALUE inside",
      "MAP<STRING, INT>",
      "optional group COLUMN (MAP) { repeated group map (MAP_KEY_VALUE) { " +
        "required binary key (STRING); optional int32 value; } }",
      spliced
    ),
    (
      "map to lists of two levels",
      "MAP<STRING, ARRAY<STRUCT<b: STRUCT<c: INT>>>>",
      "optional group COLUMN (MAP) { repeated group key_value { required binary key (STRING); " +
        "optional group value (LIST) { repeated group array { optional group b { optional int32 c; } } } } }",
      byRows
    )
  )

  /** A table with a column for each form, which only the files of one partition have. */
  private def tableOfForms(name: String): String = {
    val columns = forms.zipWithIndex.map { case ((_, kind, _, _), i) => s"c$i $kind" }
    val files = forms.zipWithIndex.flatMap { case ((form, _, column, _), i) =>
      val named = column.replace("COLUMN", s"c$i")
      val parquet = MessageTypeParser.parseMessageType(s"message m { optional int32 id; $named }")
      (0 until 2).map { file =>
        fileOf(parquet)((0 until 5).map(nth => (row: Group) => fill(row, parquet, 5 * file + nth)): _*)
          .copy(partition = Some(form))
      }
    }
    tableOf(name, StructType.fromDDL(s"id INT, ${columns.mkString(", ")}, p STRING"))(files.toSeq: _*)
  }

  test("rows are the same after OPTIMIZE") {
    val path = tableOfForms("forms")
    val rows = rowsOf(path)
    forms.zipWithIndex.foreach { case ((form, _, _, _), i) =>
      assert(rows.exists(row => row.getAs[String]("p") == form && !row.isNullAt(1 + i)))
    }
    val tiers = optimizePartitions(path)
    forAll(forms) { (form, _, _, tier) =>
      assert(tiers(Partition.textOf(Seq("p" -> Some(form))))._1 == tier)
    }
  }

  test("the same with a reader that makes rows") {
    spark.conf.set("spark.sql.parquet.enableNestedColumnVectorizedReader", "false")
    // Readers take this for a list of two levels, or of three.
    try {
      val column =
        "optional group c (LIST) { repeated group element { optional group b { optional int32 c; } } }"
      val parquet = MessageTypeParser.parseMessageType(s"message m { optional int32 id; $column }")
      val files = (0 until 2).map(i => fileOf(parquet)(fill(_, parquet, i + 1)))
      val schema = StructType.fromDDL("id INT, c ARRAY<STRUCT<b: STRUCT<c: INT>>>")
      assert(optimize(tableOf("formByRows", schema)(files: _*))._1 == byRows)
    } finally spark.conf.unset("spark.sql.parquet.enableNestedColumnVectorizedReader")
  }

  /** Fills every field: with nulls, empty lists and different values, as `seed` says. */
  private def fill(group: Group, schema: GroupType, seed: Int): Unit =
    schema.getFields.asScala.zipWithIndex.foreach { case (field, i) =>
      val count = field.getRepetition match {
        case Repetition.REQUIRED => 1
        case Repetition.OPTIONAL => if (seed % 5 == 4) 0 else 1
        case Repetition.REPEATED => seed % 3
      }
      (0 until count).foreach { nth =>
        val value = 10 * seed + 3 * nth + i
        if (!field.isPrimitive) fill(group.addGroup(i), field.asGroupType, value)
        else if (field.asPrimitiveType.getPrimitiveTypeName == PrimitiveTypeName.INT32) group.add(i, value)
        else group.add(i, s"text $value")
      }
    }
}
