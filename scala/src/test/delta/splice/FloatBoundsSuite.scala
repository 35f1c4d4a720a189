package org.apache.spark.sql.delta.upkeep.splice

import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestSession}
import org.apache.spark.sql.types._

/** After OPTIMIZE a filter finds the rows that it found before, NaN among them. */
class FloatBoundsSuite extends AnyFunSuite {
  import ForeignTables._
  import TestSession.spark

  private val schema = new StructType().add("x", DoubleType).add("y", FloatType).add("n", IntegerType)
  private val parquet: MessageType =
    MessageTypeParser.parseMessageType("message m { optional double x; optional float y; optional int32 n; }")

  private def fileOfValues(values: Double*): ForeignFile = fileOf(parquet)(values.zipWithIndex.map {
    case (v, i) =>
      (row: org.apache.parquet.example.data.Group) => {
        row.append("x", v).append("y", v.toFloat).append("n", i)
        ()
      }
  }: _*)

  private def statsOf(json: String)(file: ForeignFile): ForeignFile = file.copy(stats = Some(json))

  private val bounds =
    """{"numRecords":2,"minValues":{"x":1,"y":1,"n":0},"maxValues":{"x":%s,"y":%s,"n":1},""" +
      """"nullCount":{"x":0,"y":0,"n":0}}"""

  private val filters = Seq("x > 90", "x > 96", "isnan(x)", "y > 90", "x >= 0")

  /** Row groups that stay apart, and such that are merged. */
  for (rowGroupBytes <- Seq(10, 1 << 27))
    test(s"filters find what they found, row groups of $rowGroupBytes bytes") {
      spark.conf.set("parquet.block.size", rowGroupBytes.toString)
      try {
        val tables = Seq(
          "footers" -> Seq(fileOfValues(95, Double.NaN), fileOfValues(1 to 10 map (_.toDouble): _*)),
          "zeros" -> Seq(fileOfValues(0.0, -0.0), fileOfValues(-0.0, -0.0), fileOfValues(0.0, 0.0)),
          "log" -> Seq(
            statsOf(bounds.format("\"NaN\"", "\"NaN\""))(fileOfValues(1, Double.NaN)),
            statsOf(bounds.format("95", "95"))(fileOfValues(95, 1))
          ),
          "someOfTheLog" -> Seq(
            statsOf(bounds.format("\"NaN\"", "\"NaN\""))(fileOfValues(1, Double.NaN)),
            fileOfValues(95, 1)
          )
        )
        for ((name, files) <- tables) {
          val path = tableOf(s"nan-$name-$rowGroupBytes", schema)(files: _*)
          val before = filters.map(rowsOf(path, _))
          val all = rowsOf(path)
          assert(Seq("copy", "splice").contains(optimize(path)._1))
          filters.zip(before).foreach { case (filter, rows) =>
            // parquet-java leaves out a -0.0 that is no less than 0 where it is alone in a dictionary.
            val after = rowsOf(path, filter)
            assert(
              rows.diff(after).isEmpty && after.diff(all.filter(passes(filter, _))).isEmpty,
              s"$name: $filter"
            )
          }
          if (name == "log") assert(maxOf(path, "x") == "\"NaN\"")
          if (name == "footers") assert(maxOf(path, "x") == "" && maxOf(path, "n") == "9")
        }
      } finally spark.conf.unset("parquet.block.size")
    }

  /** As Spark compares: NaN is above all, and -0.0 is 0. */
  private def passes(filter: String, row: Row): Boolean = {
    val (x, y) = (row.getDouble(0), row.getFloat(1))
    filter match {
      case "x > 90" => x.isNaN || x > 90
      case "x > 96" => x.isNaN || x > 96
      case "isnan(x)" => x.isNaN
      case "y > 90" => y.isNaN || y > 90
      case "x >= 0" => x.isNaN || x >= 0
    }
  }

  private def maxOf(path: String, column: String): String = {
    val stats = DeltaLog.forTable(spark, path).update().allFiles.head().stats
    new com.fasterxml.jackson.databind.ObjectMapper().readTree(stats).path("maxValues").path(column).toString
  }
}
