package org.apache.spark.sql.delta.upkeep.cleanup

import java.io.File

import io.deltaupkeep.store.LatencyFileSystem

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.{Templates, TestSession}

/** What CLEANUP LOG asks a store for: requests are what takes time, and what is paid for. */
class CleanupRequestsSuite extends AnyFunSuite {
  import TestSession._

  private val DayMs = 24L * 3600 * 1000

  /** Versions 0 to 20, a checkpoint of 12, and all up to 15 older than 30 days. */
  private def expiredTable(name: String): String = {
    val path = new File(root, name).getAbsolutePath
    Templates.copy(path, "a checkpoint of version 12") { at =>
      newTableAt(at, 12, "delta.checkpointInterval" -> "1000")
      spark.sql(s"CHECKPOINT delta.`$at`")
      (13 to 20).foreach(append(at, _))
    }
    val start = System.currentTimeMillis() - 40 * DayMs
    for {
      file <- new File(path, "_delta_log").listFiles()
      version <- file.getName.takeWhile(_.isDigit).toLongOption
      if version <= 15
    } file.setLastModified(start + version * 60000)
    DeltaLog.clearCache()
    path
  }

  private def filesAt(path: String, version: Long): Long = {
    DeltaLog.clearCache()
    DeltaLog.forTable(spark, path).getSnapshotAt(version).numOfFiles
  }

  private def cleanUp(path: String, clause: String, settings: (String, String)*): Row = {
    val ofStore = settings.map { case (key, value) => s"fs.latency.$key" -> value }
    LatencyFileSystem.reset()
    withConf(ofStore: _*)(spark.sql(s"CLEANUP LOG delta.`latency://$path` $clause").collect().last)
  }

  test("a request for each file that goes, and no listing beside those of the dry run") {
    val path = expiredTable("cleanupRequests")
    // What Spark looks at once in a session is not ours.
    cleanUp(path, "DRY RUN")
    assert(cleanUp(path, "DRY RUN").getAs[Long]("filesDeleted") == 24)
    assert(LatencyFileSystem.calls("delete") == 0)
    val planning = LatencyFileSystem.calls("list")
    assert(cleanUp(path, "").getAs[Long]("filesDeleted") == 24)
    assert((LatencyFileSystem.calls("delete"), LatencyFileSystem.calls("list")) == ((24, planning)))
    assert(filesAt(path, version = 12) == 12)
  }

  test("a request for many files where the store can") {
    val path = expiredTable("cleanupBulkRequests")
    val row = cleanUp(path, "", "bulk.page" -> "1000", "impl.disable.cache" -> "true")
    assert(row.getAs[Long]("filesDeleted") == 24)
    assert((LatencyFileSystem.calls("bulk delete"), LatencyFileSystem.calls("delete")) == ((1, 0)))
    assert(filesAt(path, version = 12) == 12)
  }
}
