package org.apache.spark.sql.delta.upkeep.commit

import java.io.{File, IOException}
import java.nio.file.FileAlreadyExistsException

import io.deltaupkeep.store.RetriedLogStore

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.util.DeltaFileOperations

/** A commit that took place, and of which OPTIMIZE is told that it did not. */
class LostAnswerSuite extends AnyFunSuite {
  import TestSession._

  private val exists: RetriedLogStore.Request = (path, write) => {
    write()
    throw new FileAlreadyExistsException(path.toString)
  }
  private val timesOut: RetriedLogStore.Request = (_, write) => {
    write()
    throw new IOException("no answer")
  }

  /** The same directory through the store of the test. */
  private def remote(path: String): String = s"delta.`latency://$path`"

  private def version(path: String): Long = {
    DeltaLog.clearCache()
    DeltaLog.forTable(spark, path).update().version
  }

  private def dataFiles(path: String): Set[String] =
    new File(path).listFiles().filter(_.getName.startsWith("p=")).flatMap(_.list()).filter(
      _.endsWith(".parquet")
    ).toSet

  private def assertWhole(path: String, expected: Seq[Long]): Unit = {
    assert(ids(path) == expected)
    val named = DeltaLog.forTable(spark, path).update().allFiles.collect().map(_.path)
    assert(named.forall(file => new File(DeltaFileOperations.absolutePath(path, file).toUri.getPath).exists))
  }

  private def statuses(result: Row): Set[String] =
    result.getAs[collection.Seq[Row]]("bins").map(_.getAs[String]("status")).toSet

  for {
    (what, clauses, commits) <- Seq(
      ("spliced", "", 1L),
      ("rows", "ZORDER BY (id)", 1L),
      ("batches", "OPTIONS (maxBytesPerCommit = 1)", 2L)
    )
    (answer, request) <- Seq("exists" -> exists, "timesOut" -> timesOut)
    if answer == "exists" || what == "batches"
  } test(s"a commit that took place counts: $what, $answer") {
    val path = newTable(s"lostAnswer-$what-$answer", 4)
    val result =
      RetriedLogStore.through(request)(spark.sql(s"OPTIMIZE ${remote(path)} $clauses").collect().head)
    assert(statuses(result) == Set("committed"))
    assert(result.getAs[Long]("version") == 4 + commits && version(path) == 4 + commits)
    assertWhole(path, Seq(1, 2, 3, 4))
  }

  test("a commit that took place counts, whatever came after it") {
    val path = newTable("lostAnswer-later", 4)
    val result = RetriedLogStore.through { (file, write) =>
      write()
      spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1").collect()
      throw new FileAlreadyExistsException(file.toString)
    }(spark.sql(s"OPTIMIZE ${remote(path)}").collect().head)
    assert(statuses(result) == Set("committed") && result.getAs[Long]("version") == 5)
    assert(version(path) == 6)
    assertWhole(path, Seq(2, 3, 4))
    assert(spark.sql(s"SELECT * FROM delta.`$path` VERSION AS OF 5").count() == 4)
  }

  test("an auto-compaction that took place counts") {
    val path = newTable("lostAnswer-auto", 4, "delta.autoOptimize.autoCompact" -> "true")
    spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "3")
    try RetriedLogStore.through(exists)(spark.sql(s"INSERT INTO ${remote(path)} VALUES (5, 1)"))
    finally spark.conf.unset("spark.databricks.delta.autoCompact.minNumFiles")
    assert(version(path) == 6, "the insert, and one compaction")
    assertWhole(path, Seq(1, 2, 3, 4, 5))
  }

  test("a bin that another writer overtook is lost, and its file goes") {
    val path = newTable("lostAnswer-overtaken", 4)
    var first = true
    val result = RetriedLogStore.through { (_, write) =>
      if (first) {
        first = false
        spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1").collect()
      }
      write()
    }(spark.sql(s"OPTIMIZE ${remote(path)} OPTIONS (minInputFiles = 2)").collect().head)
    assert(statuses(result) == Set("committed", "lost"))
    assert(result.toString.contains("another writer changed its files meanwhile"))
    assert(result.getAs[Long]("version") == 6 && version(path) == 6)
    assertWhole(path, Seq(2, 3, 4))
    assert(dataFiles(path).size == 5, "four of before, and the new one of p=0")
  }

  test("where nobody knows whether it took place, the error is the store's and every file stays") {
    val path = newTable("lostAnswer-unknown", 4)
    val failure = intercept[Exception] {
      RetriedLogStore.through((_, _) => throw new IOException("no answer")) {
        spark.sql(s"OPTIMIZE ${remote(path)}").collect()
      }
    }
    assert(failure.getMessage.contains("no answer"))
    assert(version(path) == 4 && dataFiles(path).size == 6)
    assertWhole(path, Seq(1, 2, 3, 4))
  }
}
