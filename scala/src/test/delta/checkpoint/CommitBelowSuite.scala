package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.File
import java.nio.file.{Files, StandardCopyOption}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** A table that was created anew at the same path, and by the files of its log can be taken for the first one. */
class CommitBelowSuite extends AnyFunSuite {
  import TestSession._

  private val version = 2

  private def logOf(path: String): File = new File(path, "_delta_log")
  private def commit(path: String, version: Int): File = new File(logOf(path), f"$version%020d.json")

  private def belowOf(path: String): CommitBelow = {
    DeltaLog.clearCache()
    new CommitBelow(DeltaHandle.of(spark, newest(path), None))
  }

  /** Makes a file as long as another one, by spaces that JSON ignores. */
  private def pad(file: File, length: Long): Unit = {
    val text = Files.readString(file.toPath)
    Files.writeString(file.toPath, text.replaceFirst("\\{", "{" + " " * (length - text.length).toInt))
    ()
  }

  /** As a store that knows whole seconds has them: the commits of both tables are of one second. */
  private def setTimes(path: String): Unit =
    (0 to version).foreach(v => assert(commit(path, v).setLastModified(1750000000000L)))

  private def newCommits(name: String): String =
    newTable(name, version, "delta.checkpointInterval" -> "1000", "name" -> name)

  private def replaceLog(path: String, by: String): Unit = {
    Files.move(logOf(path).toPath, new File(path, "_old").toPath)
    Files.move(logOf(by).toPath, logOf(path).toPath, StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  test("a commit of the same length and second is of another table") {
    val (path, other) = (newCommits("below-second"), newCommits("below-second-other"))
    val length = Seq(path, other).map(commit(_, version).length).max
    Seq(path, other).foreach { each =>
      pad(commit(each, version), length)
      setTimes(each)
    }
    val below = belowOf(path)
    assert(below.isThere)
    replaceLog(path, other)
    assert(commit(path, version).length == length)
    assert(!below.isThere)
  }

  test("a checkpoint has taken the place of the commit") {
    val (path, other) = (newCommits("below-checkpoint"), newCommits("below-checkpoint-other"))
    spark.sql(s"CHECKPOINT delta.`$path`")
    val below = belowOf(path)
    assert(below.isThere)
    replaceLog(path, other)
    (0 to version).foreach(v => assert(commit(path, v).setLastModified(System.currentTimeMillis())))
    assert(!below.isThere)
  }

  test("a copy of the log, whose files have other times, is of the same table") {
    val path = newCommits("below-copy")
    spark.sql(s"CHECKPOINT delta.`$path`")
    (0 to version).foreach(v => assert(commit(path, v).setLastModified(1750000009000L - 1000 * v)))
    assert(belowOf(path).isThere)
  }

  test("a table that a statement has replaced, and given another id, is the same") {
    val path = newCommits("below-replaced")
    setTimes(path)
    spark.sql(s"CREATE OR REPLACE TABLE delta.`$path` USING delta AS SELECT 1 AS x")
    assert(commit(path, 3).setLastModified(1750000000000L))
    assert(belowOf(path).isThere)
  }
}
