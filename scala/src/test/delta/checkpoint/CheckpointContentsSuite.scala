package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.File
import java.nio.file.{Files, Paths}
import java.nio.file.attribute.BasicFileAttributes
import java.util.concurrent.{Callable, CyclicBarrier, Executors}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode, Policy, WrittenCheckpoint}

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations}
import org.apache.spark.sql.delta.actions.{Action, AddFile, DomainMetadata, RemoveFile, SetTransaction}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}
import org.apache.spark.sql.delta.util.FileNames

/** What the protocol says a checkpoint holds is in full and in incremental ones. */
class CheckpointContentsSuite extends AnyFunSuite with CheckpointedLogs {
  import CheckpointContentsSuite._
  import CheckpointedLogs.HourMs
  import TestSession._

  for (feature <- features) {
    lazy val path = new File(root, feature.name.filter(_.isLetter)).getAbsolutePath
    lazy val versions = {
      val table = s"delta.`$path`"
      val properties = (bothPolicies ++ feature.properties).map { case (key, value) => s"'$key' = '$value'" }
      spark.sql(
        s"CREATE TABLE $table (id BIGINT, text STRING, day DATE, at TIMESTAMP, amount DECIMAL(10, 2)) " +
          s"USING delta ${feature.layout} TBLPROPERTIES (${properties.mkString(", ")})"
      )
      feature.stages.map { statements =>
        statements.foreach(statement => spark.sql(statement(table)))
        versionOf(path)
      }
    }

    for (policy <- Seq("classic", "v2"))
      test(s"${feature.name}, $policy") {
        val modes = checkpointsAt(path, versions, s"OPTIONS (policy = '$policy')").map(_._1)
        assert(modes.startsWith(feature.modes))
      }
  }

  private def commit(path: String)(actions: Action*): Long = DeltaLog.forTable(spark, path)
    .startTransaction(catalogTableOpt = None)
    .commit(actions, DeltaOperations.ManualUpdate)

  private def file(name: String): AddFile = {
    val stats = """{"numRecords":1,"minValues":{"id":1},"maxValues":{"id":1},"nullCount":{"id":0}}"""
    AddFile(name, Map("p" -> "0"), size = 700, modificationTime = 1, dataChange = true, stats = stats)
  }

  private def tombstonesIn(path: String): Long = {
    DeltaLog.clearCache()
    val log = DeltaLog.forTable(spark, new Path(path), clock)
    log.update().checkpointProvider.loadActionsForStateReconstruction(spark, log)
      .fold(0L)(_.where("remove.path is not null").count())
  }

  private val policies = Seq("classic", "v2")

  private def assertModes(path: String, versions: Seq[Long])(modes: String*): Unit =
    policies.foreach { policy =>
      assert(checkpointsAt(path, versions, s"OPTIONS (policy = '$policy')").map(_._1) == modes)
    }

  test("tombstones and transactions that expire between two checkpoints") {
    val retention = Seq(
      "delta.deletedFileRetentionDuration" -> "interval 24 hours",
      "delta.setTransactionRetentionDuration" -> "interval 24 hours"
    )
    val path = newTable("expiry", 0, bothPolicies ++ retention: _*)
    val (old, young) = (clock.getTimeMillis() - 20 * HourMs, clock.getTimeMillis())
    val files = Seq("p=0/1.parquet", "p=0/2.parquet", "p=0/3.parquet").map(file)
    commit(path)(files: _*)
    commit(path)(files(0).removeWithTimestamp(old), SetTransaction("old", 1, Some(old)))
    val first = commit(path)(files(1).removeWithTimestamp(young), SetTransaction("young", 1, Some(young)))
    val second = commit(path)(file("p=0/4.parquet"))
    val third = commit(path)(file("p=0/5.parquet"))

    val copies = policies.map(policy => policy -> emptyLog())
    def assertAt(version: Long, expectedMode: String): Unit = copies.foreach { case (policy, copy) =>
      addCommits(path, copy, version)
      assert(checkpoint(copy, s"OPTIONS (policy = '$policy')")._1 == expectedMode)
      assertHoldsTheTable(copy, path)
    }
    assertAt(first, "full")
    assert(copies.map { case (_, copy) => tombstonesIn(copy) } == Seq(2, 2))
    clock.advance(10 * HourMs)
    assertAt(second, "incremental")
    clock.advance(20 * HourMs)
    assertAt(third, "incremental")
    assert(copies.map { case (_, copy) => tombstonesIn(copy) } == Seq(0, 0))
  }

  test("domain metadata that changes and goes, of a table without files") {
    val path = newTable("domains", 0, bothPolicies :+ ("delta.feature.domainMetadata" -> "supported"): _*)
    def domain(name: String, text: String) = DomainMetadata(name, text, removed = false)
    val first = commit(path)(domain("stays", "1"), domain("changes", "2"), domain("goes", "3"))
    val second =
      commit(path)(domain("changes", "4"), domain("goes", "").copy(removed = true), domain("comes", "5"))
    assertModes(path, Seq(first, second))("full", "incremental")
  }

  test("actions with no more fields than they must have") {
    val path = newTable("least", 0, bothPolicies: _*)
    def least(id: Int) = file(s"p=0/$id.parquet").copy(stats = null)
    commit(path)(least(1), least(2), SetTransaction("app", 1, None))
    val first = commit(path)(RemoveFile("p=0/1.parquet", Some(clock.getTimeMillis())))
    val second =
      commit(path)(
        least(3),
        RemoveFile("p=0/2.parquet", Some(clock.getTimeMillis())),
        SetTransaction("app", 2, None)
      )
    assertModes(path, Seq(first, second))("full", "incremental")
  }

  test("old dates and microseconds of partitions, whatever the session does with them") {
    for {
      mode <- Seq("EXCEPTION", "LEGACY")
      form <- Seq("TIMESTAMP_MILLIS", "INT96")
      driverBytes <- Seq("0", "64m")
    } {
      val path = new File(root, s"odd-times-$mode-$form-$driverBytes").getAbsolutePath
      spark.sql(
        s"CREATE TABLE delta.`$path` (id INT, day DATE, at TIMESTAMP) USING delta PARTITIONED BY (day, at) " +
          "TBLPROPERTIES ('delta.checkpoint.writeStatsAsStruct' = 'true')"
      )
      spark.sql(
        s"INSERT INTO delta.`$path` VALUES (1, DATE'1500-01-01', TIMESTAMP'1500-01-01 00:00:00.000001')"
      )
      TestSession.withConf(
        "spark.sql.parquet.datetimeRebaseModeInWrite" -> mode,
        "spark.sql.parquet.int96RebaseModeInWrite" -> mode,
        "spark.sql.parquet.outputTimestampType" -> form,
        "spark.deltaUpkeep.driverBytes" -> driverBytes
      )(checkpoint(path, "OPTIONS (policy = 'classic')"))
      val parsed = spark.read
        .parquet(FileNames.checkpointFileSingular(new Path(path, "_delta_log"), 1).toString)
        .where("add IS NOT NULL")
        .selectExpr("string(add.partitionValues_parsed.day)", "string(add.partitionValues_parsed.at)")
      assert(parsed.head() == Row("1500-01-01", "1500-01-01 00:00:00.000001"), path)
    }
  }

  test("absolute paths") {
    val path = newTable("absolute", 0, bothPolicies: _*)
    val names = Seq("/data/a.parquet", "file:/data/b.parquet", "s3://data/c.parquet", "p=0/d.parquet")
    val first = commit(path)(names.map(file): _*)
    val second = commit(path)(file("p=0/e.parquet"), file("p=0/d.parquet").remove)
    // The first file, by another name.
    val third = commit(path)(file("file:///data/a.parquet").remove, file("s3://data/c.parquet").remove)
    assertModes(path, Seq(first, second, third))("full", "incremental", "full")
  }

  for (policy <- Seq(Policy.Classic, Policy.V2))
    test(s"two drivers that write the same version, ${policy.name}") {
      val path = newTable(s"drivers-${policy.name}", 4, bothPolicies: _*)
      // Full, then incremental.
      (1 to 2).foreach { i =>
        append(path, 100 + i)
        assert(writeTwice(path, policy).map(_.numAddFiles) == Seq(4L + i, 4L + i))
        // Hadoop's local file system puts a file and its checksum in place one after the other.
        new File(path, "_delta_log/._last_checkpoint.crc").delete()
        assertHoldsTheTable(path)
        assert(new File(path, "_delta_log").list().forall(!_.endsWith(TemporaryFiles.End)))
      }
    }

  /** By two sessions, which both find none before either writes. */
  private def writeTwice(path: String, policy: Policy): Seq[WrittenCheckpoint] = {
    val barrier = new CyclicBarrier(2)
    val pool = Executors.newFixedThreadPool(2)
    val driver: Callable[WrittenCheckpoint] = () => {
      val write = planned(path, policy)
      barrier.await()
      write()
    }
    try pool.invokeAll(Seq(driver, driver).asJava).asScala.toSeq.map(_.get())
    finally pool.shutdown()
  }

  /** What is to be written, of a driver with a session of its own. */
  private def planned(path: String, policy: Policy): () => WrittenCheckpoint = {
    val session = spark.newSession()
    val target = DeltaTarget.byPath(session, "TEST", path, Map.empty)
    val table = DeltaHandle.open(session, "TEST", target, Intent.Checkpoint)
    val checkpoint = TableCheckpoint(table, CheckpointRequest(Some(policy), None, None, Mode.Auto))
    assert(!checkpoint.plan.isEmpty)
    () => checkpoint.write()
  }

  test("a classic checkpoint that is there is not replaced by a slower driver's") {
    val path = newTable("slower", 4)
    val drivers = Seq.fill(2)(planned(path, Policy.Classic))
    val file = FileNames.checkpointFileSingular(new Path(path, "_delta_log"), versionOf(path)).toUri.getPath
    val written = drivers.map { write =>
      write()
      Files.readAttributes(Paths.get(file), classOf[BasicFileAttributes]).fileKey
    }
    assert(written.distinct.size == 1)
    assertHoldsTheTable(path)
  }

  test("several parts, and one file built on them") {
    val path = newTable("severalParts", 7, "delta.checkpointInterval" -> "1000")
    val inParts = "OPTIONS (partSize = 3)"
    assert(checkpoint(path, inParts)._1 == "full")
    assertHoldsTheTable(path)
    append(path, 101)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    assert(checkpoint(path)._1 == "incremental")
    assertHoldsTheTable(path)
    append(path, 102)
    assert(checkpoint(path, inParts)._1 == "full")
    assertHoldsTheTable(path)
  }

  test("one built on Delta's own classic checkpoint") {
    val path = newTable("foreignClassic", 3, "delta.checkpointInterval" -> "3")
    append(path, 100)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    assert(checkpoint(path)._1 == "incremental")
    assertHoldsTheTable(path)
  }
}

private object CheckpointContentsSuite {

  /**
   * A table and what happens to it.
   *
   * @param stages statements before each checkpoint, by the name of the table
   * @param modes  of the first checkpoints
   */
  final case class Feature(
      name: String,
      layout: String,
      properties: Seq[(String, String)],
      modes: Seq[String],
      stages: Seq[String => String]*
  )

  private val onTheLast = Seq("full", "incremental")

  private def insert(ids: Int*)(table: String): String = {
    val rows =
      ids.map(id => s"($id, 'text $id', DATE'2024-02-2$id', TIMESTAMP'1969-12-31 23:59:59.$id', $id.25)")
    s"INSERT INTO $table VALUES ${rows.mkString(", ")}"
  }

  private def delete(id: Int)(table: String): String = s"DELETE FROM $table WHERE id = $id"

  private def alter(what: String)(table: String): String = s"ALTER TABLE $table $what"

  /** Partition values of which directories have other names. */
  private def unusualValues(first: Int)(table: String): String =
    s"""INSERT INTO $table VALUES
       |  ($first, NULL, NULL, NULL, NULL),
       |  ($first + 1, 'a b/c=%ä:"日', DATE'1582-10-04', NULL, 1),
       |  ($first + 2, '', DATE'9999-12-31', NULL, 1)""".stripMargin

  val features: Seq[Feature] = Seq(
    Feature(
      "partition values, and tombstones that expire at once",
      "PARTITIONED BY (text, day)",
      Seq("delta.deletedFileRetentionDuration" -> "interval 0 hours"),
      onTheLast,
      Seq(unusualValues(1), delete(1)),
      Seq(delete(2), unusualValues(5))
    ),
    Feature(
      "statistics as a struct alone",
      "",
      Seq("delta.checkpoint.writeStatsAsJson" -> "false", "delta.checkpoint.writeStatsAsStruct" -> "true"),
      Seq("full"),
      Seq(insert(1), insert(2), insert(3)),
      Seq(delete(1), insert(4))
    ),
    Feature(
      "statistics as JSON alone",
      "PARTITIONED BY (day)",
      Seq("delta.checkpoint.writeStatsAsStruct" -> "false"),
      onTheLast,
      Seq(insert(1, 2)),
      Seq(delete(1), insert(3))
    ),
    Feature(
      "deletion vectors, row tracking and in-commit timestamps",
      "",
      Seq("delta.enableDeletionVectors", "delta.enableRowTracking", "delta.enableInCommitTimestamps")
        .map(_ -> "true"),
      onTheLast,
      Seq(insert(1, 2, 3, 4), delete(1), insert(5, 6)),
      Seq(delete(2), delete(5))
    ),
    Feature(
      "clustering, column mapping and type widening",
      "CLUSTER BY (id)",
      Seq("delta.columnMapping.mode" -> "name", "delta.enableTypeWidening" -> "true"),
      Seq("full", "incremental", "full", "incremental"),
      Seq(insert(1, 2)),
      Seq(insert(3)),
      Seq(
        alter("RENAME COLUMN text TO words"),
        alter("ALTER COLUMN amount TYPE DECIMAL(14, 4)"),
        alter("CLUSTER BY (day)"),
        insert(4)
      ),
      Seq(delete(1))
    )
  )
}
