package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.Files

import io.delta.VERSION
import io.deltaupkeep.UpkeepException
import io.deltaupkeep.log.{LogDirectory, LogFileKind, LogListing, SidecarReferences}
import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode, Policy, TopLevelFormat}
import io.deltaupkeep.plan.compact.{Layout, OptimizeSettings}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog, OptimisticTransaction, TableFeature}
import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.read.DeltaLogReader
import org.apache.spark.sql.delta.upkeep.files.{FilePredicate, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent, TableFeatures}

/** What the rest of the code relies on in Delta's private classes. Run this first on a Delta upgrade. */
class AdapterContractSuite extends AnyFunSuite {
  import TestSession._

  private def open(path: String, intent: Intent = Intent.Reorganize): DeltaHandle =
    DeltaHandle.open(spark, "TEST", DeltaTarget.byPath(spark, "TEST", path, Map.empty), intent)

  private val settings = OptimizeSettings(1L << 20, 1L << 20, 0.05)

  test("no feature that Delta knows is unknown to us") {
    val features =
      TableFeature.allSupportedFeaturesMap.values.map(_.name).filterNot(_.toLowerCase.startsWith("test"))
    assert((features.toSet -- TableFeatures.known).filterNot(TableFeatures.isAdaptiveMetadata).isEmpty)
  }

  test("facts come from the log") {
    val path = newTable(
      "facts",
      2,
      "delta.checkpointInterval" -> "7",
      "delta.logRetentionDuration" -> "interval 10 days"
    )
    val facts = open(path).facts
    assert(facts.version == 2)
    assert(facts.columns == Seq("id", "p") && facts.partitionColumns == Seq("p"))
    assert(facts.checkpointLimits.commits == 7 && facts.logRetentionMs == 240L * 3600 * 1000)
    assert(!facts.supportsV2Checkpoints && !facts.catalogManaged && !facts.isClustered)
    assert(facts.name == s"delta.`$path`")
  }

  test("a compaction keeps the rows, tags its files and commits no data change") {
    val path = newTable("compact", 4)
    val before = ids(path)
    val optimize = TableOptimize(open(path), OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
    val plan = optimize.plan
    assert(plan.bins.map(_.partition.text).toSet == Set("p=0", "p=1"))
    val outcome = optimize.runOnce(plan)
    assert(outcome.versions.contains(5L) && outcome.lost.isEmpty)
    assert(ids(path) == before)
    val files = new SelectedFiles(open(path), FilePredicate.none, whole = false).files
    assert(files.size == 2 && files.forall(_.optimizedFor.contains(settings.targetFileSize)))
    val history = spark.sql(s"DESCRIBE HISTORY delta.`$path` LIMIT 1").collect().head
    assert(history.getAs[String]("operation") == "OPTIMIZE")
    assert(history.getAs[Map[String, String]]("operationMetrics")("numRemovedFiles") == "4")
  }

  test("bins that another writer overtook are dropped and the others committed") {
    val path = newTable("conflict", 4)
    val optimize = TableOptimize(open(path), OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
    val plan = optimize.plan
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    val outcome = optimize.runOnce(plan)
    assert(outcome.committed.map(_.bin.partition.text) == Seq("p=0"))
    assert(outcome.lost.map(_.partition.text) == Seq("p=1"))
    assert(ids(path) == Seq(2, 3, 4))
    val dataFiles = new File(path, "p=1").listFiles().filter(_.getName.endsWith(".parquet"))
    assert(dataFiles.length == 2, "the new file of the lost bin is gone")
  }

  test("appends in between are no conflict") {
    val path = newTable("append", 4)
    val optimize = TableOptimize(open(path), OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
    val plan = optimize.plan
    append(path, 5)
    assert(optimize.runOnce(plan).lost.isEmpty)
    assert(ids(path) == Seq(1, 2, 3, 4, 5))
  }

  test("a dry run starts no transaction") {
    val path = newTable("dryRun", 4)
    val none = new TestEvents {
      override def starting(begin: => OptimisticTransaction): OptimisticTransaction =
        throw new IllegalStateException("a transaction")
    }
    val optimize = TableOptimize(open(path), OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
    none.observe {
      assert(optimize.planned().bins.map(_.status) == Seq("planned", "planned"))
      assert(intercept[IllegalStateException](optimize.execute()).getMessage == "a transaction")
    }
  }

  test("new files stay where nobody knows whether their commit took place") {
    val path = newTable("unknown", 4)
    val lost = new TestEvents {
      override def committed(): Unit = throw new IllegalStateException("lost")
    }
    val failure = intercept[Exception] {
      lost.observe {
        val optimize =
          TableOptimize(open(path), OptimizeRequest(Layout.Compact, FilePredicate.none), settings)
        optimize.runOnce(optimize.plan)
      }
    }
    assert(failure.getMessage.contains("lost"))
    DeltaLog.clearCache()
    assert(ids(path) == Seq(1, 2, 3, 4))
    assert(open(path).facts.version == 5)
  }

  /** What Delta reads when it has nothing but the checkpoint. */
  private def readFromCheckpointAlone(path: String, version: Long): Seq[Long] = {
    new File(path, "_delta_log").listFiles().foreach { file =>
      val name = file.getName
      val isOlderCommit = name.matches("\\d{20}\\.(json|crc)") && name.take(20).toLong < version
      if (isOlderCommit || name.endsWith(".crc")) file.delete()
    }
    DeltaLog.clearCache()
    ids(path)
  }

  private def checkpoint(path: String, request: CheckpointRequest) =
    TableCheckpoint(open(path, Intent.Checkpoint), request).write()

  private val default = CheckpointRequest(None, None, None, Mode.Auto)

  test("a classic checkpoint holds the table") {
    val path = newTable("classic", 3)
    val written = checkpoint(path, default)
    assert(written.numAddFiles == 3 && written.parts == 1)
    assert(readFromCheckpointAlone(path, 3) == Seq(1, 2, 3))
  }

  test("a multi-part checkpoint holds the table") {
    val path = newTable("parts", 3)
    val written = checkpoint(path, default.copy(partSize = Some(2)))
    // Delta 3.2 leaves no count of files, so the plan counts every action.
    assert(written.parts == (if (VERSION.startsWith("3.2.")) 3 else 2))
    assert(readFromCheckpointAlone(path, 3) == Seq(1, 2, 3))
  }

  test("v2 checkpoints of both formats hold the table and name their sidecars") {
    Seq(TopLevelFormat.Json, TopLevelFormat.Parquet).foreach { format =>
      val path = newTable(s"v2-${format.name}", 3, "delta.checkpointPolicy" -> "v2")
      val written = checkpoint(path, default.copy(format = Some(format), partSize = Some(2)))
      // Two, but for three paths that happen to share one.
      assert((1 to 2).contains(written.parts))
      val table = open(path)
      val log = LogListing.of(table.logPath.getFileSystem(table.hadoopConf), table.logPath)
      val top = log.find(_.kind.isInstanceOf[LogFileKind.V2Checkpoint]).get
      assert(top.name.endsWith(format.name))
      val sidecars = log.filter(_.directory == LogDirectory.Sidecars).map(_.name).toSet
      val references = new DeltaLogReader(table).sidecarReferences(top, uuidNamed = true)
      assert(sidecars.size == 2 && references == SidecarReferences.Named(sidecars))
      assert(readFromCheckpointAlone(path, 3) == Seq(1, 2, 3))
    }
  }

  test("the other policy leaves the table's own in the checkpoint") {
    val path = newTable("policy", 3, "delta.checkpointPolicy" -> "v2")
    checkpoint(path, default.copy(policy = Some(Policy.Classic)))
    assert(new File(path, "_delta_log/00000000000000000003.checkpoint.parquet").exists())
    assert(readFromCheckpointAlone(path, 3) == Seq(1, 2, 3))
    assert(open(path).facts.prefersV2Checkpoints)

    val classic = newTable("policy2", 3, "delta.feature.v2Checkpoint" -> "supported")
    checkpoint(classic, default.copy(policy = Some(Policy.V2)))
    assert(readFromCheckpointAlone(classic, 3) == Seq(1, 2, 3))
    assert(!open(classic).facts.prefersV2Checkpoints)
  }

  test("the session's own settings survive a checkpoint") {
    val path = newTable("settings", 2)
    val key = "spark.databricks.delta.checkpoint.partSize"
    checkpoint(path, default.copy(partSize = Some(1)))
    assert(spark.conf.getOption(key).isEmpty)
  }

  test("a damaged v2 checkpoint is unreadable, not empty") {
    val path = newTable("damaged", 1, "delta.checkpointPolicy" -> "v2")
    checkpoint(path, default)
    val table = open(path)
    val log = LogListing.of(table.logPath.getFileSystem(table.hadoopConf), table.logPath)
    val top = log.find(_.kind.isInstanceOf[LogFileKind.V2Checkpoint]).get
    val file = new File(path, s"_delta_log/${top.name}")
    new File(file.getParentFile, s".${top.name}.crc").delete()
    Seq("", "{\"add\":", "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n").foreach { text =>
      Files.writeString(file.toPath, text)
      val references = new DeltaLogReader(table).sidecarReferences(top, uuidNamed = true)
      assert(references.isInstanceOf[SidecarReferences.Unreadable], text)
    }
  }

  test("in-commit timestamps are read from the commits that have one") {
    val path = newTable("ict", 1)
    val enabled = DeltaConfigs.IN_COMMIT_TIMESTAMPS_ENABLED.key
    spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('$enabled' = 'true')")
    val reader = new DeltaLogReader(open(path))
    assert(reader.inCommitTimestamp(1).isEmpty)
    assert(reader.inCommitTimestamp(2).exists(_ > 0))
  }

  test("a path that is no table, and an old version of one, are refused") {
    val path = newTable("time", 2)
    val none = intercept[UpkeepException](open(new File(root, "none").toString))
    assert(none.errorClass.contains("DELTA_UPKEEP.NOT_A_DELTA_TABLE"))
    val old = intercept[UpkeepException](open(s"$path@v1"))
    assert(old.errorClass.contains("DELTA_UPKEEP.TIME_TRAVEL_NOT_SUPPORTED"))
  }
}
