package org.apache.spark.sql.delta.upkeep.read

import java.io.File
import java.nio.file.Files

import io.deltaupkeep.plan.compact.{CommitOutcome, Layout, OptimizeSettings}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.files.FilePredicate
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}

/** Logs that name one file in two ways, as Delta's own writers and others do. */
class PathSpellingSuite extends AnyFunSuite {
  import TestSession._

  private val settings = OptimizeSettings(1L << 20, 1L << 20, maxDeletedRowsRatio = 0.05)

  private type Spelling = File => String
  private val bare: Spelling = _.getAbsolutePath
  private val whole: Spelling = file =>
    FileSystem.getLocal(new Configuration()).makeQualified(new Path(file.getAbsolutePath)).toUri.toString

  /** A table without partitions, of files outside its directory with one id each. */
  private class Table(name: String, ids: Int, spelled: Spelling) {
    val path: String = new File(root, s"spelling-$name").getAbsolutePath
    private val data = new File(root, s"spelling-$name-data")
    spark.range(0, ids.toLong, 1, ids).write.parquet(data.toString)
    private val files = data.listFiles().filter(_.getName.endsWith(".parquet")).sortBy(_.getName)
    spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT) USING delta")
    commit(
      1,
      files.toSeq.map { file =>
        AddFile(spelled(file), Map.empty, file.length, file.lastModified, dataChange = true).json
      }
    )

    def remove(version: Int, id: Int, spelled: Spelling): Unit =
      commit(version, Seq(RemoveFile(spelled(files(id)), Some(1L), partitionValues = Map.empty).json))

    def nameOf(id: Int): String = spelled(files(id))

    def removals(version: Long): Set[String] =
      DeltaLog.forTable(spark, path).getChanges(version).flatMap(_._2).collect { case r: RemoveFile =>
        r.path
      }.toSet

    private def commit(version: Int, lines: Seq[String]): Unit = {
      Files.writeString(new File(path, f"_delta_log/$version%020d.json").toPath, lines.mkString("\n"))
      ()
    }

    /** Plans, lets another writer do something, and commits. */
    def optimizeWhile(other: => Unit): CommitOutcome = {
      DeltaLog.clearCache()
      val target = DeltaTarget.byPath(spark, "TEST", path, Map.empty)
      val handle = DeltaHandle.open(spark, "TEST", target, Intent.Reorganize)
      val optimize = TableOptimize(handle, OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
      val plan = optimize.plan
      other
      optimize.runOnce(plan)
    }

    def found: Seq[Long] = {
      DeltaLog.clearCache()
      TestSession.ids(path)
    }
  }

  for ((what, added, removed) <- Seq(("bare", bare, whole), ("whole", whole, bare))) {

    test(s"a file that was removed by another spelling stays removed: $what") {
      val table = new Table(s"removed-$what", 4, added)
      table.remove(2, 0, removed)
      assert(table.found == Seq(1, 2, 3))
      val outcome = table.optimizeWhile(())
      assert(outcome.committed.map(_.bin.files.size) == Seq(3))
      assert(table.found == Seq(1, 2, 3))
      // Other readers look for the text of the log.
      assert(table.removals(outcome.versions.head) == (1 to 3).map(table.nameOf).toSet)
    }

    test(s"a file that another writer removes meanwhile stays removed: $what") {
      for ((by, i) <- Seq(bare, whole).zipWithIndex) {
        val table = new Table(s"meanwhile-$what-$i", 3, added)
        val outcome = table.optimizeWhile(table.remove(2, 1, by))
        assert(outcome.committed.isEmpty && outcome.lost.size == 1)
        assert(table.found == Seq(0, 2))
      }
    }

    test(s"a row that Delta deletes meanwhile stays deleted: $what") {
      val table = new Table(s"delete-$what", 3, added)
      val outcome = table.optimizeWhile {
        spark.sql(s"DELETE FROM delta.`${table.path}` WHERE id = 1").collect()
        ()
      }
      assert(outcome.committed.isEmpty && outcome.lost.size == 1)
      assert(table.found == Seq(0, 2))
    }
  }
}
