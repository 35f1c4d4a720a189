package org.apache.spark.sql.delta.upkeep.commit

import java.io.File

import scala.collection.mutable

import io.deltaupkeep.plan.compact.{CommitOutcome, Layout, OptimizeSettings}

import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}
import org.apache.spark.sql.delta.upkeep.{ForeignTables, Meanwhile, TestSession}
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.files.FilePredicate
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}
import org.apache.spark.sql.types.{IntegerType, LongType, StructType}

/** Compactions of files from which other writers delete rows meanwhile. */
class RebaseSuite extends AnyFunSuite {
  import TestSession._

  private val settings = OptimizeSettings(1L << 20, 1L << 20, 0.05).copy(verify = true)

  /** Three files of ten rows, ids from 0; row 5 is deleted before. */
  private def table(name: String, properties: (String, String)*): String = {
    val path = newTable(s"rebase-$name", 0, properties :+ ("delta.enableDeletionVectors" -> "true"): _*)
    (0 until 3).foreach(i => insert(path, i * 10, i * 10 + 10))
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 5")
    path
  }

  private def insert(path: String, from: Int, until: Int): Unit =
    spark.range(from.toLong, until.toLong).selectExpr("id", "0 AS p").coalesce(1)
      .write.format("delta").mode("append").save(path)

  private def run(path: String, statement: String): Unit = {
    spark.sql(statement.replace("{t}", s"delta.`$path`")).collect()
    ()
  }

  /** Compacts the table as it is now; each change is made before an attempt to commit that. */
  private def optimizeWhile(path: String, changes: String*): CommitOutcome =
    optimizeWhile(path, settings, changes: _*)

  private def optimizeWhile(path: String, settings: OptimizeSettings, changes: String*): CommitOutcome =
    optimizeWhile(path, Layout.Compact, settings)(changes.map(change => () => run(path, change)): _*)

  private def optimizeWhile(path: String, layout: Layout, settings: OptimizeSettings)(
      changes: (() => Unit)*
  ): CommitOutcome = {
    val handle =
      DeltaHandle.open(spark, "TEST", DeltaTarget.byPath(spark, "TEST", path, Map.empty), Intent.Reorganize)
    val optimize = TableOptimize(handle, OptimizeRequest(layout, FilePredicate.none), settings)
    val plan = optimize.plan
    Meanwhile.changing(changes.iterator)(optimize.runOnce(plan))
  }

  private def live(path: String): Seq[AddFile] = newest(path).allFiles.collect().toSeq

  private def filesOf(path: String, suffix: String): Set[String] =
    new File(path).listFiles().filter(_.getName != "_delta_log").flatMap(f =>
      if (f.isDirectory) f.listFiles().toSeq else Seq(f)
    ).map(_.getName)
      .filter(name => name.endsWith(suffix) && !name.startsWith(".")).toSet

  /** Files that no version of the log names. */
  private def orphans(path: String): Set[String] = {
    val named = mutable.Set.empty[String]
    val root = new Path(path)
    DeltaLog.forTable(spark, path).getChanges(0).flatMap(_._2).foreach {
      case add: AddFile =>
        named += new Path(add.path).getName
        Option(add.deletionVector).filter(_.isOnDisk).foreach(named += _.absolutePath(root).getName)
      case _ => ()
    }
    (filesOf(path, ".parquet") ++ filesOf(path, ".bin")) -- named
  }

  private val all: Seq[Long] = (0L until 30L).filterNot(_ == 5)

  private def without(gone: Int*): Seq[Long] = all.filterNot(id => gone.contains(id.toInt))

  for (
    (what, changes, expected, late) <- Seq[(String, Seq[String], Seq[Long], Long)](
      ("DELETE", Seq("DELETE FROM {t} WHERE id IN (0, 4, 6, 19, 20)"), without(0, 4, 6, 19, 20), 5),
      (
        "DELETE repeatedly",
        Seq("DELETE FROM {t} WHERE id = 7", "DELETE FROM {t} WHERE id = 6", "DELETE FROM {t} WHERE id = 29"),
        without(6, 7, 29),
        3
      ),
      (
        "DELETE of a whole file",
        Seq("DELETE FROM {t} WHERE id BETWEEN 9 AND 19"),
        all.filterNot(id => id >= 9 && id <= 19),
        11
      ),
      (
        "UPDATE",
        Seq("UPDATE {t} SET id = 100 + id WHERE id IN (3, 8)"),
        without(3, 8) ++ Seq(103L, 108L),
        2
      ),
      (
        "MERGE",
        Seq(
          "MERGE INTO {t} t USING (SELECT explode(array(1L, 12L, 22L, 50L)) AS id) s ON t.id = s.id " +
            "WHEN MATCHED AND t.id < 10 THEN DELETE WHEN MATCHED THEN UPDATE SET id = t.id + 100 " +
            "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 0)"
        ),
        without(1, 12, 22) ++ Seq(50L, 112L, 122L),
        3
      )
    )
  ) test(s"$what loses no bin and no row") {
    val path = table(what.replace(' ', '-'))
    val outcome = optimizeWhile(path, changes: _*)
    assert(outcome.lost.isEmpty && outcome.committed.map(_.lateRows) == Seq(late))
    assert(ids(path) == expected)
    val version = outcome.versions.last
    val before = spark.read.format("delta").option("versionAsOf", version - 1).load(path)
    assert(before.select("id").collect().map(_.getLong(0)).sorted.toSeq == expected)
    assert(orphans(path).isEmpty)
    val compacted = live(path).maxBy(_.numPhysicalRecords)
    assert(compacted.numPhysicalRecords.contains(29L) && compacted.numDeletedRecords == late)
    assert(compacted.tightBounds.contains(false) && compacted.deletionVector.isOnDisk)
    // Nothing but the rows of other writers is left of the inputs, and no commit of ours changes data.
    val ours = DeltaLog.forTable(spark, path).getChanges(version).next()._2
    assert(ours.collect {
      case add: AddFile => add.dataChange
      case gone: RemoveFile => gone.dataChange
    }
      .forall(_ == false))
  }

  private val mapped = "delta.columnMapping.mode" -> "name"

  for (
    (what, change, properties) <- Seq(
      (
        "a property of the user",
        "ALTER TABLE {t} SET TBLPROPERTIES ('team' = 'x', 'delta.checkpointInterval' = '7')",
        Nil
      ),
      ("a new column under column mapping", "ALTER TABLE {t} ADD COLUMN more INT", Seq(mapped)),
      (
        "a new column under column mapping by id",
        "ALTER TABLE {t} ADD COLUMN more STRUCT<x: INT>",
        Seq("delta.columnMapping.mode" -> "id")
      )
    )
  ) test(s"$what loses no bin") {
    val path = table(what.replace(' ', '-'), properties: _*)
    val outcome = optimizeWhile(path, change, "DELETE FROM {t} WHERE id = 4")
    assert(outcome.lost.isEmpty && outcome.committed.map(_.lateRows) == Seq(1L))
    assert(ids(path) == without(4) && orphans(path).isEmpty)
  }

  private def foreignFiles(fields: String)(fill: Group => Any): Seq[ForeignTables.ForeignFile] = {
    val parquet = MessageTypeParser.parseMessageType(s"message m { optional int64 id; $fields }")
    (1L to 2L).map { id =>
      ForeignTables.fileOf(parquet) { row =>
        row.append("id", id)
        fill(row)
        ()
      }
    }
  }

  test("values that files hold for a column that is added meanwhile stay") {
    val files = foreignFiles("optional int32 more;")(_.append("more", 7))
    val path = ForeignTables.tableOf("rebase-held", new StructType().add("id", LongType))(files: _*)
    val outcome = optimizeWhile(path, "ALTER TABLE {t} ADD COLUMN more INT")
    assert(outcome.lost.size == 1 && outcome.committed.isEmpty)
    assert(ForeignTables.rowsOf(path, "more = 7").size == 2)
  }

  test("values that files hold for a field that is added meanwhile stay") {
    val fields = "optional group s { optional int32 a; optional int32 more; }"
    val files = foreignFiles(fields)(_.addGroup("s").append("a", 1).append("more", 7))
    val schema = new StructType().add("id", LongType).add("s", new StructType().add("a", IntegerType))
    val path = ForeignTables.tableOf("rebase-held-field", schema)(files: _*)
    val outcome = optimizeWhile(path, "ALTER TABLE {t} ADD COLUMN s.more INT")
    assert(outcome.lost.size == 1 && outcome.committed.isEmpty)
    assert(ForeignTables.rowsOf(path, "s.more = 7").size == 2)
  }

  test("values of a dropped column that RESTORE brings back meanwhile stay") {
    val path = new File(root, "rebase-restored").getAbsolutePath
    run(
      path,
      "CREATE TABLE {t} (id BIGINT, more INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    (1 to 2).foreach(i => run(path, s"INSERT INTO {t} VALUES ($i, 7)"))
    run(path, "ALTER TABLE {t} DROP COLUMN more")
    val outcome = optimizeWhile(path, "RESTORE TABLE {t} TO VERSION AS OF 2")
    assert(outcome.lost.size == 1 && outcome.committed.isEmpty)
    assert(ForeignTables.rowsOf(path, "more = 7").size == 2)
  }

  for (
    (tasks, clusterBytes, order, layout) <- Seq(
      ("one task", "1g", "Z-order", Layout.ZOrder(Seq("id", "p"), full = false)),
      ("several tasks", "256k", "ORDER BY", Layout.Sort(Seq("id"), Seq(true), full = false))
    )
  ) test(s"rows that $tasks put in $order keep what others did to them, and their ids") {
    val properties = Seq("enableDeletionVectors", "enableRowTracking").map(name => s"delta.$name" -> "true")
    val path = new File(root, s"rebase-$order-$clusterBytes").getAbsolutePath
    val told = properties.map { case (name, value) => s"'$name' = '$value'" }.mkString(", ")
    run(path, s"CREATE TABLE {t} (id BIGINT, p INT) USING delta TBLPROPERTIES ($told)")
    for (from <- 0 until 40000 by 4000)
      spark.range(from.toLong, from + 4000L).selectExpr("hash(id) * 40000L + id AS id", "0 AS p")
        .coalesce(1).write.format("delta").mode("append").save(path)
    run(path, "DELETE FROM {t} WHERE pmod(id, 40000) BETWEEN 9000 AND 11000")
    def rows = spark.sql(
      s"SELECT count(*), sum(xxhash64(id, p, _metadata.row_id) % 1000000007) FROM delta.`$path`"
    ).head()
    var expected = Option.empty[org.apache.spark.sql.Row]
    val outcome = withConf("spark.deltaUpkeep.optimize.clusterBytes" -> clusterBytes) {
      optimizeWhile(path, layout, settings.copy(targetFileSize = 100000))(
        () => run(path, "DELETE FROM {t} WHERE pmod(id, 40000) % 1000 = 7"),
        () => run(path, "DELETE FROM {t} WHERE pmod(id, 40000) >= 32000"),
        () => {
          run(path, "UPDATE {t} SET p = 1 WHERE pmod(id, 40000) BETWEEN 500 AND 700")
          expected = Some(rows)
        }
      )
    }
    assert(outcome.lost.isEmpty && outcome.committed.size == 1)
    assert(expected.contains(rows))
    // Delta's DELETE leaves vectors of files that it then removes.
    assert(!orphans(path).exists(_.endsWith(".parquet")) && orphans(path).size <= 2)
    val ordered = live(path).filter(_.tags != null)
    assert(ordered.size > 1 && ordered.map(_.numDeletedRecords).sum == outcome.committed.head.lateRows)
  }

  test("large row groups that come before small ones keep their rows") {
    val path = newTable("rebase-order", 0, "delta.enableDeletionVectors" -> "true")
    // Of 800 rows and of 10; a row group from 1 KiB on stays alone, and comes first.
    for ((from, until) <- Seq(0 -> 10, 10 -> 810, 810 -> 820)) insert(path, from, until)
    withConf("parquet.block.size" -> "4096") {
      val outcome = optimizeWhile(
        path,
        settings.copy(verify = false),
        "DELETE FROM {t} WHERE id IN (0, 9, 10, 700, 819)"
      )
      assert(outcome.lost.isEmpty && outcome.committed.map(_.lateRows) == Seq(5L))
      assert(outcome.committed.flatMap(_.rowGroups).map(_.after) == Seq(2))
    }
    assert(ids(path) == (0L until 820L).filterNot(Set(0L, 9L, 10L, 700L, 819L)))
    assert(spark.read.format("delta").load(path).select("id").head().getLong(0) == 11)
  }

  test("skipping trusts no bound of a hidden row, and takes those that stay") {
    val path = table("skipping")
    optimizeWhile(path, "DELETE FROM {t} WHERE id IN (0, 29)")
    for ((where, expected) <- Seq("id = 28" -> 1L, "id = 29" -> 0L, "id = 0" -> 0L, "id = 1" -> 1L))
      assert(spark.sql(s"SELECT * FROM delta.`$path` WHERE $where").count() == expected, where)
  }

  test("rows that stay keep their ids and their versions") {
    val path = table("tracked", "delta.enableRowTracking" -> "true")
    def rows = spark.sql(
      s"SELECT id, _metadata.row_id, _metadata.row_commit_version FROM delta.`$path` ORDER BY id"
    ).collect().toSeq
    var expected = Seq.empty[org.apache.spark.sql.Row]
    val handle =
      DeltaHandle.open(spark, "TEST", DeltaTarget.byPath(spark, "TEST", path, Map.empty), Intent.Reorganize)
    val optimize = TableOptimize(handle, OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
    val change = () => {
      run(path, "UPDATE {t} SET id = id + 100 WHERE id IN (4, 11)")
      expected = rows
    }
    assert(Meanwhile.changing(Iterator.single(change))(optimize.runOnce(optimize.plan)).lost.isEmpty)
    assert(rows == expected && expected.map(_.getLong(1)).distinct.size == 29)
  }

  test("the change feed and a stream see each change once") {
    val path = table("feed", "delta.enableChangeDataFeed" -> "true")
    val outcome = optimizeWhile(path, "UPDATE {t} SET id = 100 WHERE id = 4", "DELETE FROM {t} WHERE id = 20")
    assert(outcome.lost.isEmpty && outcome.versions == Seq(7L))
    val changes =
      spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 5).load(path)
    assert(changes.selectExpr("concat_ws(' ', id, _change_type, _commit_version)").collect().map(
      _.getString(0)
    ).toSet
      == Set("4 update_preimage 5", "100 update_postimage 5", "20 delete 6"))
    assert(changes.count() == 3)
    val streamed = spark.readStream.format("delta").option("skipChangeCommits", "true").load(path)
    val to = new File(root, "rebase-streamed").toString
    streamed.writeStream.format("delta").option("checkpointLocation", s"$to-at").trigger(
      org.apache.spark.sql.streaming.Trigger.AvailableNow()
    ).start(to).awaitTermination()
    insert(path, 200, 201)
    streamed.writeStream.format("delta").option("checkpointLocation", s"$to-at").trigger(
      org.apache.spark.sql.streaming.Trigger.AvailableNow()
    ).start(to).awaitTermination()
    assert(ids(to) == ids(path))
  }

  for (
    (what, change, expected) <- Seq[(String, String, Seq[Long])](
      ("RESTORE", "RESTORE TABLE {t} TO VERSION AS OF 3", 0L until 30L),
      ("most files", "DELETE FROM {t} WHERE id < 20", 20L until 30L),
      ("all files", "DELETE FROM {t}", Nil),
      ("properties", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')", all)
    )
  ) test(s"what cannot be carried over loses the bin: $what") {
    val path = table(s"lost-${what.replace(' ', '-')}")
    val outcome = optimizeWhile(path, change, "DELETE FROM {t} WHERE id < 0")
    assert(outcome.lost.size == 1 && outcome.committed.isEmpty)
    assert(ids(path) == expected)
    // Delta's DELETE leaves the vector of a file that it then removes.
    assert(!orphans(path).exists(_.endsWith(".parquet")))
  }

  test("bins of the rows tier are lost") {
    val path = table("rows")
    val outcome = withConf("spark.deltaUpkeep.optimize.engine" -> "rows") {
      optimizeWhile(path, "DELETE FROM {t} WHERE id = 1")
    }
    assert(outcome.lost.size == 1 && ids(path) == without(1) && orphans(path).isEmpty)
  }

  test("a vector that cannot be read ends the statement, and nothing of it stays") {
    val path = table("damaged")
    val before = filesOf(path, ".bin")
    val failure = intercept[Exception] {
      val handle =
        DeltaHandle.open(spark, "TEST", DeltaTarget.byPath(spark, "TEST", path, Map.empty), Intent.Reorganize)
      val optimize = TableOptimize(handle, OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
      Meanwhile.changing(Iterator.single { () =>
        run(path, "DELETE FROM {t} WHERE id = 1")
        (filesOf(path, ".bin") -- before).foreach(name => new File(path, name).delete())
      })(optimize.runOnce(optimize.plan))
    }
    assert(Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null).exists(
      _.getMessage.contains("deletion_vector")
    ))
    assert(orphans(path).isEmpty)
  }
}
