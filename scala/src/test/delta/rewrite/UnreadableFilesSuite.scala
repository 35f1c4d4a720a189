package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.UpkeepException

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{DeltaLog, OptimisticTransaction}
import org.apache.spark.sql.delta.upkeep.{ForeignTables, TestEvents, TestSession}
import org.apache.spark.sql.types.{DecimalType, LongType, StructType}

/** Files that Spark cannot read do not stop the others of their table. */
class UnreadableFilesSuite extends AnyFunSuite {
  import ForeignTables._
  import TestSession.{spark, withConf}

  private val schema = new StructType().add("a", LongType)

  private def fileWith(columns: String)(values: (String, Any)*): ForeignFile =
    fileOf(MessageTypeParser.parseMessageType(s"message m { $columns }")) { row =>
      values.foreach {
        case (name, value: Long) => row.append(name, value)
        case (name, value) => row.append(name, value.toString)
      }
    }

  private val good = Seq(1L, 2L).map(i => fileWith("optional int64 a;")("a" -> i))

  /** Asserts that the good files become one, and that the odd ones are left for a reason. */
  private def assertLeft(name: String, odd: Seq[ForeignFile], reason: String): Unit = {
    val path = tableOf(name, schema)(good ++ odd: _*)
    for (_ <- 1 to 2) {
      val bins = spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").collect()
      val left = bins.filter(_.getAs[String]("status") == "left")
      assert(left.length == 1 && left.head.getAs[String]("reason").contains(reason), bins.mkString)
      assert(DeltaLog.forTable(spark, path).update().numOfFiles == 1 + odd.size)
    }
    withConf("spark.deltaUpkeep.optimize.engine" -> "rows") {
      val bins = spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").collect()
      assert(bins.map(_.getAs[String]("status")).toSeq == Seq("left"), bins.mkString)
    }
  }

  test("a column of a type that Spark does not read as the table's") {
    val odd = Seq("x", "y").map(text => fileWith("optional binary a (STRING);")("a" -> text))
    assertLeft("unreadableType", odd, "Spark cannot read column [a] of ")
  }

  test("files that are left take no transaction of their own") {
    val odd = Seq("x", "y").map(text => fileWith("optional binary a (STRING);")("a" -> text))
    val path = tableOf("unreadableAlone", schema)(good ++ odd: _*)
    var started = 0
    val counted = new TestEvents {
      override def starting(begin: => OptimisticTransaction): OptimisticTransaction = {
        started += 1
        super.starting(begin)
      }
    }
    withConf("spark.databricks.delta.optimize.batchSize" -> "1") {
      counted.observe(spark.sql(s"OPTIMIZE delta.`$path`"))
    }
    assert(started == 1)
  }

  test("two columns that differ by their case alone") {
    val odd = Seq(3L, 4L).map(i => fileWith("optional int64 a; optional int64 A;")("a" -> i, "A" -> -i))
    withConf("spark.sql.caseSensitive" -> "true")(
      assertLeft("unreadableCase", odd, "Found duplicate field(s)")
    )
  }

  test("a decimal in DELTA_BYTE_ARRAY, on which Spark's reader of batches fails") {
    val decimal = new StructType().add("a", DecimalType(9, 2))
    val parquet = MessageTypeParser.parseMessageType("message m { optional binary a (DECIMAL(9, 2)); }")
    val files = Seq(1, 2).map { i =>
      fileOf(parquet, "parquet.writer.version" -> "v2", "parquet.enable.dictionary" -> "false") { row =>
        row.append("a", Binary.fromConstantByteArray(Array(i.toByte))); ()
      }
    }
    val path = tableOf("unreadableDecimal", decimal)(files: _*)
    withConf("spark.deltaUpkeep.optimize.engine" -> "rows") {
      val bin = spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("inline(bins)").head()
      assert(bin.getAs[String]("status") == "left")
      assert(bin.getAs[String]("reason").matches("Spark cannot read .*foreign.*NullPointer.*"), bin)
    }
    withConf("spark.sql.parquet.enableVectorizedReader" -> "false")(assert(optimize(path)._1 == "splice"))
  }

  test("REORG, which must leave no hidden rows, tells which file it is") {
    val odd =
      Seq("x", "y").map(text => fileWith("optional binary a (STRING); optional int64 b;")("a" -> text))
    val path = tableOf("unreadableReorg", schema)(odd: _*)
    val e = intercept[UpkeepException](spark.sql(s"REORG TABLE delta.`$path` APPLY (PURGE)").collect())
    assert(e.getMessage.startsWith("[DELTA_UPKEEP.DATA_FILE_UNREADABLE]"), e)
    assert(e.getMessage.contains("Spark cannot read column [a] of "), e)
  }

  test("a codec that is missing for new files is no fault of those that are there") {
    val path = tableOf("unwritable", schema)(good: _*)
    withConf("spark.sql.parquet.compression.codec" -> "brotli") {
      val e = intercept[Exception](spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (a)").collect())
      assert(!e.getMessage.contains("DATA_FILE_UNREADABLE"), e)
    }
    assert(DeltaLog.forTable(spark, path).update().version == 0)
  }
}
