package org.apache.spark.sql.delta.upkeep.commit

import java.nio.file.{Files, Path => LocalPath, Paths}

import io.deltaupkeep.plan.compact.{Layout, OptimizeSettings}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.files.FilePredicate
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}

/** Commits of compacted files to tables with row ids. */
class CommitBaseSuite extends AnyFunSuite {
  import TestSession._

  private val settings = OptimizeSettings(1L << 20, 1L << 20, 0.05)

  /** Four files of one row: the mark of their ids is 3. */
  private def table(name: String): String =
    newTable(s"commitBase-$name", 4, "delta.enableRowTracking" -> "true")

  /** Whether Delta replayed the log for the compaction. */
  private def replays(path: String, where: String*): Boolean = {
    DeltaLog.clearCache()
    val target = DeltaTarget.byPath(spark, "TEST", path, Map.empty)
    val handle = DeltaHandle.open(spark, "TEST", target, Intent.Reorganize)
    val optimize = TableOptimize(
      handle,
      OptimizeRequest(Layout.Compact, FilePredicate(where.map(CatalystSqlParser.parseExpression))),
      settings
    )
    assert(optimize.runOnce(optimize.plan).versions.size == 1)
    handle.snapshot.stateReconstructionTriggered
  }

  private def rowIds(path: String): Map[Long, Long] =
    spark.read.format("delta").load(path).selectExpr("id", "_metadata.row_id").collect()
      .map(row => row.getLong(0) -> row.getLong(1)).toMap

  private def checksum(path: String): LocalPath =
    Paths.get(path, "_delta_log", f"${newest(path).version}%020d.crc")

  private def mark(value: Int): String = "\\\"rowIdHighWaterMark\\\":" + value + ","

  /** Before Delta 3.3 there are no checksums. */
  private def hasMark(path: String, value: Int): Boolean =
    Files.exists(checksum(path)) && Files.readString(checksum(path)).contains(mark(value))

  private def setMark(path: String, value: Int, from: Int = 3): Unit = {
    val file = checksum(path)
    Files.writeString(file, Files.readString(file).replace(mark(from), mark(value)))
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    assert(hasMark(path, value))
  }

  /** Rows keep their ids, and those that come later have others. */
  private def assertIds(path: String, before: Map[Long, Long]): Unit = {
    append(path, 100)
    val after = rowIds(path)
    assert(after - 100L == before && after.values.toSet.size == after.size)
  }

  test("the mark of row ids comes from the checksum, and nothing is replayed") {
    val path = table("checksum")
    val before = rowIds(path)
    assume(hasMark(path, 3))
    assert(!replays(path))
    // The new file takes four ids that nobody sees.
    assert(hasMark(path, 7))
    assertIds(path, before)
  }

  test("the log is replayed where there is no checksum") {
    val path = table("none")
    val before = rowIds(path)
    Files.deleteIfExists(checksum(path))
    assert(replays(path))
    assertIds(path, before)
  }

  test("ids of files that are not selected count too") {
    val path = table("others")
    spark.range(10, 20).selectExpr("id", "1 AS p").coalesce(1).write.format("delta").mode("append").save(
      path
    )
    val before = rowIds(path)
    assume(hasMark(path, 13))
    // The ids of the rows of p = 0 are 1 and 3; those of the others go up to 13.
    setMark(path, 3, from = 13)
    assert(replays(path, "p = 0"))
    assertIds(path, before)
  }

  test("the log is replayed where a checksum's mark is below the ids of files") {
    val path = table("low")
    val before = rowIds(path)
    assume(hasMark(path, 3))
    setMark(path, 2)
    assert(replays(path))
    assertIds(path, before)
  }
}
