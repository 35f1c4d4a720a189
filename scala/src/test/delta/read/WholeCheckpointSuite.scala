package org.apache.spark.sql.delta.upkeep.read

import java.io.File
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.plan.cleanup.{CleanupPlan, CleanupSettings, Granularity}

import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.io.LocalInputFile
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.{Templates, TestSession}
import org.apache.spark.sql.delta.upkeep.checkpoint.CheckpointedLogs
import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}

/** CLEANUP LOG deletes nothing before a checkpoint that does not hold all of its version. */
class WholeCheckpointSuite extends AnyFunSuite with CheckpointedLogs {
  import TestSession._

  private val DayMs = 24L * 3600 * 1000

  /** Version 5 has a v2 checkpoint in JSON, with a transaction. */
  private def table(name: String): String = {
    val path = new File(root, name).getAbsolutePath
    Templates.copy(path, "a v2 checkpoint of version 5 with a transaction") { at =>
      newTableAt(at, 4, bothPolicies: _*)
      spark.sql(s"SELECT 5L AS id, 1 AS p").write.format("delta").mode("append")
        .option("txnAppId", "app").option("txnVersion", 1).save(at)
      checkpoint(at, "OPTIONS (policy = 'v2')")
      append(at, 6)
    }
    path
  }

  private def log(path: String, name: String): Path = new File(path, s"_delta_log/$name").toPath

  private def checkpointOf(path: String, version: Int): Path = Files.list(log(path, "")).iterator.asScala
    .find(_.getFileName.toString.matches(s"0*$version\\.checkpoint\\..*")).get

  private def topLevel(path: String): Path = checkpointOf(path, 5)

  private def keep(file: Path, lines: Seq[String]): Unit = {
    Files.writeString(file, lines.mkString)
    // Hadoop's own checksum would find it out before we do.
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
  }

  private def linesOf(file: Path): Seq[String] = Files.readString(file).linesWithSeparators.toSeq

  /** Once all versions have expired. */
  private def cleanup(path: String): CleanupPlan = cleanupOf(path).plan

  private def cleanupOf(path: String): TableCleanup = {
    DeltaLog.clearCache()
    val target = DeltaTarget.byPath(spark, "TEST", path, Map.empty)
    val handle = DeltaHandle.open(spark, "TEST", target, Intent.Checkpoint)
    TableCleanup(handle, CleanupSettings(DayMs, Granularity.Day), System.currentTimeMillis() + 60 * DayMs)
  }

  private def deletedCommits(plan: CleanupPlan): Int = plan.deletions.count(_.name.matches("\\d{20}\\.json"))

  test("a v2 checkpoint in JSON is no cutoff where it was cut off, at whatever line") {
    val path = table("cutAtALine")
    assert(deletedCommits(cleanup(path)) == 5)
    val file = topLevel(path)
    val lines = linesOf(file)
    assert(lines.size == 5)
    for (kept <- 1 until lines.size) withClue(s"$kept of ${lines.size} lines: ") {
      keep(file, lines.take(kept))
      val plan = cleanup(path)
      assert(deletedCommits(plan) == 0)
      assert(plan.message.contains("The checkpoint of version 5 is passed over: "), plan.message)
    }
  }

  test("a v2 checkpoint in JSON is no cutoff where the schema of its sidecars is damaged") {
    val path = table("schemaOfSidecars")
    val (of, others) = linesOf(topLevel(path)).partition(_.startsWith("{\"checkpointMetadata"))
    assert(of.exists(_.contains("nullable")))
    keep(topLevel(path), of.map(_.replaceFirst("nullable", "n5llable")) ++ others)
    val plan = cleanup(path)
    assert(deletedCommits(plan) == 0)
    assert(plan.message.contains("the schema of its sidecars cannot be read"), plan.message)
  }

  test("a checkpoint is no cutoff where a bit of a page has changed") {
    for (policy <- Seq("classic", "v2"); ours <- Seq("64m", "0")) {
      val path = new File(root, s"changedPage-$policy-$ours").getAbsolutePath
      newTableAt(path, 5, bothPolicies: _*)
      withConf("spark.deltaUpkeep.driverBytes" -> ours) {
        checkpoint(path, s"OPTIONS (policy = '$policy')")
      }
      append(path, 6)
      assert(deletedCommits(cleanup(path)) == 5)
      val file = Files.walk(log(path, "")).iterator.asScala.find(_.toString.endsWith(".parquet")).get
      val pages =
        Using.resource(ParquetFileReader.open(new LocalInputFile(file)))(_.getRowGroups.asScala.head)
      val chunk = pages.getColumns.asScala.find(_.getPath.toDotString == "add.path").get
      val bytes = Files.readAllBytes(file)
      val last = chunk.getStartingPos + chunk.getTotalSize - 1
      bytes(last.toInt) = (bytes(last.toInt) ^ 1).toByte
      Files.write(file, bytes)
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      val plan = cleanup(path)
      assert(deletedCommits(plan) == 0, path)
      assert(plan.message.contains("The checkpoint of version 5 is passed over: "), plan.message)
    }
  }

  test("a checkpoint gets a copy with a classic name only if it is whole") {
    for (isCut <- Seq(true, false)) {
      val path = table(s"copyOfCut$isCut")
      checkpoint(path, "OPTIONS (policy = 'v2')")
      if (isCut) keep(checkpointOf(path, 6), linesOf(checkpointOf(path, 6)).take(2))
      cleanupOf(path).execute()
      assert(!Files.exists(log(path, f"${0}%020d.json")))
      assert(Files.exists(log(path, f"${6}%020d.checkpoint.parquet")) != isCut)
    }
  }

  test("the table tells, where neither _last_checkpoint nor a checksum does, what a checkpoint has to hold") {
    val path = table("nothingTells")
    Seq("_last_checkpoint", f"${5}%020d.crc").foreach(forget(path, _))
    assert(deletedCommits(cleanup(path)) == 5)
    withoutTransaction(path)
    val plan = cleanup(path)
    assert(deletedCommits(plan) == 0)
    assert(plan.message.contains("neither _last_checkpoint nor a checksum says"), plan.message)
  }

  test("a checkpoint cannot build on one that was cut off at a line, or that nothing shows to be whole") {
    val path = table("noBase")
    withoutTransaction(path)
    for (lost <- Seq(None, Some("_last_checkpoint"), Some(f"${5}%020d.crc"))) withClue(s"without $lost: ") {
      lost.foreach(forget(path, _))
      DeltaLog.clearCache()
      val (mode, reason) = checkpoint(path, "OPTIONS (policy = 'v2')")
      assert(mode == "full" && reason.contains("checkpoint of version 5"), reason)
      DeltaLog.clearCache()
      val written = newestCheckpoint(path)
      assert(linesOf(written).exists(_.startsWith("{\"txn\"")))
      assert(ids(path) == Seq(1, 2, 3, 4, 5, 6))
      Files.delete(written)
    }
  }

  private def withoutTransaction(path: String): Unit =
    keep(topLevel(path), linesOf(topLevel(path)).filterNot(_.startsWith("{\"txn\"")))

  private def forget(path: String, name: String): Unit = {
    Files.delete(log(path, name))
    Files.deleteIfExists(log(path, s".$name.crc"))
    ()
  }

  private def newestCheckpoint(path: String): Path = checkpointOf(path, 6)
}
