package org.apache.spark.sql.delta.upkeep.rewrite

import java.io.File
import java.nio.file.{Files, Path => LocalPath}

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.store.UnsteadyFileSystem
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession

/** A new file whose contents differ from its inputs is not committed, and is removed. */
class RewriteMismatchSuite extends AnyFunSuite {
  import TestSession.{root, spark}

  /** Three files with a number each, on a file system where one may be read as another. */
  private def newTable(name: String): (String, Seq[File]) = {
    val path = new File(root, name).toString
    val table = s"delta.`unsteady://$path`"
    spark.sql(s"CREATE TABLE $table (a INT) USING delta")
    (1 to 3).foreach(i => spark.sql(s"INSERT INTO $table VALUES ($i)"))
    (table, dataFiles(path))
  }

  private def dataFiles(path: String): Seq[File] =
    new File(path).listFiles().filter(_.getName.endsWith(".parquet")).sortBy(_.lastModified).toSeq

  /** The splice engine reads the values of `other` in a file of the same length. */
  private def readAs(file: File, other: File): Unit = {
    Files.copy(other.toPath, LocalPath.of(s"$file${UnsteadyFileSystem.First}"))
    ()
  }

  private def assertRefused(table: String, files: Seq[File], message: String): Assertion = {
    val failure = intercept[UpkeepException](spark.sql(s"OPTIMIZE $table"))
    assert(failure.getCondition == "DELTA_UPKEEP.REWRITE_MISMATCH" && failure.getMessage.contains(message))
    assert(dataFiles(files.head.getParent) == files)
    assert(spark.sql(s"DESCRIBE HISTORY $table LIMIT 1").head().getAs[Long]("version") == 3)
  }

  /** The reasons of the bins. */
  private def assertOptimized(table: String, verified: Boolean): Seq[String] = {
    val row = spark.sql(s"OPTIMIZE $table").head()
    assert(row.getAs[Boolean]("verified") == verified && row.getAs[Long]("version") == 4)
    assert(spark.sql(s"SELECT a FROM $table").collect().map(_.getInt(0)).toSet == Set(1, 2, 3))
    row.getSeq[Row](row.fieldIndex("bins")).map(_.getAs[String]("reason"))
  }

  private def withoutVerify(body: => Any): Unit = {
    spark.conf.set("spark.deltaUpkeep.optimize.verify", "false")
    try {
      body
      ()
    } finally spark.conf.set("spark.deltaUpkeep.optimize.verify", "true")
  }

  test("a value within the bounds is found by reading the rows") {
    val (table, files) = newTable("mismatch-verify")
    readAs(files(1), files(0))
    assertRefused(table, files, "rows differ in a")
    assertOptimized(table, verified = true)
  }

  test("a value outside of the bounds is found without reading rows") {
    withoutVerify {
      val (table, files) = newTable("mismatch-bounds")
      readAs(files(0), files(1))
      assertRefused(table, files, "Column a has values from 1 to 3 by the log")
      assertOptimized(table, verified = false)
    }
  }

  test("a value within the bounds is found by a spot check") {
    withoutVerify {
      TestSession.withConf("spark.deltaUpkeep.optimize.spotCheck" -> "100") {
        val (table, files) = newTable("mismatch-spot")
        readAs(files(1), files(0))
        assertRefused(
          table,
          files,
          s"than row 0 of unsteady:${files(1)}. As Spark reads them, rows differ in a"
        )
      }
    }
  }

  /** Two bins; the new file of one differs from its inputs. The statement fails, and the other bin is committed. */
  private def assertOneLeft(name: String, statement: String)(prepare: String => Unit = _ => ()): File = {
    val path = new File(root, name).toString
    val table = s"delta.`unsteady://$path`"
    spark.sql(s"CREATE TABLE $table (a INT, p INT) USING delta PARTITIONED BY (p)")
    (1 to 6).foreach(i => spark.sql(s"INSERT INTO $table VALUES ($i, ${i % 2})"))
    prepare(table)
    val odd = dataFiles(new File(path, "p=1").toString)
    readAs(odd(1), odd(0))
    val failure = intercept[UpkeepException](spark.sql(s"$statement $table"))
    assert(failure.getCondition == "DELTA_UPKEEP.REWRITE_MISMATCH")
    assert(failure.getMessage.contains("left 1 bin of delta.") && failure.getMessage.contains("p=1"))
    assert(dataFiles(new File(path, "p=1").toString) == odd)
    assert(spark.read.format("delta").load(s"unsteady://$path").inputFiles.length == 4)
    assert(spark.sql(s"SELECT a FROM $table").collect().map(_.getInt(0)).toSet == (1 to 6).toSet)
    new File(path, "_delta_log")
  }

  test("the other bins are committed") {
    assertOneLeft("mismatch-one-bin", "OPTIMIZE")()
  }

  test("MAINTAIN goes on with the checkpoint and the cleanup, and then says so") {
    def set(table: String, property: String) = spark.sql(s"ALTER TABLE $table SET TBLPROPERTIES ($property)")
    val log = assertOneLeft("mismatch-maintain", "MAINTAIN") { table =>
      spark.sql(s"CHECKPOINT $table")
      set(table, "'a' = 'b'")
      set(table, "'a' = 'c'")
      // Delta writes no checkpoint of the version that is next, and it is due by then.
      set(table, "'delta.checkpointInterval' = '4'")
      val longAgo = System.currentTimeMillis() - 40L * 24 * 3600 * 1000
      val files = new File(root, "mismatch-maintain/_delta_log").listFiles().filter(_.getName.head.isDigit)
      assert(files.forall(_.setLastModified(longAgo)))
    }
    assert(log.list().contains(f"${10}%020d.checkpoint.parquet"))
    assert(!log.list().contains(f"${0}%020d.json"))
  }

  Seq("auto", "rows").foreach { engine =>
    test(s"a wrong number of rows in the log is settled by reading all rows, engine $engine") {
      withoutVerify {
        TestSession.withConf("spark.deltaUpkeep.optimize.engine" -> engine) {
          val (table, files) = newTable(s"mismatch-rows-$engine")
          val commit = LocalPath.of(files.head.getParent, "_delta_log", f"${2}%020d.json")
          val text = Files.readString(commit)
          Files.writeString(commit, text.replace("\\\"numRecords\\\":1", "\\\"numRecords\\\":2"))
          DeltaLog.clearCache()
          val reasons = assertOptimized(table, verified = false)
          assert(reasons.forall(_.contains("4 rows by the log")))
          assert(spark.sql(s"SELECT count(*) FROM $table").head().getLong(0) == 3)
        }
      }
    }
  }
}
