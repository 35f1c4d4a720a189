package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepException

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog

/** A last checkpoint that is not what it should be makes a checkpoint in full, not an error. */
class DamagedCheckpointSuite extends AnyFunSuite {
  import TestSession._
  import spark.implicits._

  private val policies = Seq("classic", "v2")

  /** A table with a checkpoint of version 3, and commits since. */
  private def table(name: String, policy: String): String = {
    val path = newTable(name, 3, "delta.checkpointPolicy" -> policy, "delta.checkpointInterval" -> "1000")
    checkpoint(path)
    append(path, 100)
    path
  }

  private def checkpoint(path: String, options: String = ""): (String, String) = {
    DeltaLog.clearCache()
    spark.sql(s"CHECKPOINT delta.`$path` $options").select("mode", "reason").as[(String, String)].head()
  }

  private def logFiles(path: String): Seq[Path] = {
    val log = new File(path, "_delta_log").toPath
    Files.walk(log).iterator.asScala.filter(Files.isRegularFile(_)).toSeq
  }

  /** The Parquet file with the file actions of the only checkpoint. */
  private def fileOf(path: String): Path =
    logFiles(path).find(file => file.toString.endsWith(".parquet")).get

  private def damage(file: Path): Unit = {
    Files.write(file, Files.readAllBytes(file).take(100))
    // Hadoop's own checksum would find it out before we do.
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
  }

  /** The table's ids when no commit before the newest checkpoint is there. */
  private def idsFromCheckpoint(path: String): Seq[Long] = {
    val version = DeltaLog.forTable(spark, path).update().version
    logFiles(path).foreach { file =>
      val name = file.getFileName.toString
      if (name.matches("\\d{20}\\.(json|crc)") && name.take(20).toLong < version) Files.delete(file)
    }
    DeltaLog.clearCache()
    ids(path)
  }

  for (policy <- policies) {
    test(s"a missing file of a $policy checkpoint") {
      val path = table(s"missing-$policy", policy)
      Files.delete(fileOf(path))
      val (mode, reason) = checkpoint(path)
      assert(
        mode == "full" && (reason.contains("damaged") || reason.contains("no checkpoint before")),
        reason
      )
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3, 100))
    }

    test(s"a file of a $policy checkpoint that is cut off") {
      val path = table(s"cut-$policy", policy)
      damage(fileOf(path))
      val (mode, reason) = checkpoint(path)
      assert(mode == "full" && reason.contains("checkpoint of version 3 is damaged"), reason)
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3, 100))
    }

    test(s"an older checkpoint serves when the last $policy one is damaged and the first commits are gone") {
      val path = table(s"older-$policy", policy)
      val before = fileOf(path)
      append(path, 101)
      checkpoint(path, "OPTIONS (mode = 'full')")
      damage(logFiles(path).find(file => file.toString.endsWith(".parquet") && file != before).get)
      append(path, 102)
      Files.delete(new File(path, "_delta_log/00000000000000000001.json").toPath)
      assert(checkpoint(path)._1 == "full")
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3, 100, 101, 102))
    }

    test(s"nothing is left to read when the only $policy checkpoint is damaged and commits are gone") {
      val path = table(s"lost-$policy", policy)
      damage(fileOf(path))
      Files.delete(new File(path, "_delta_log/00000000000000000001.json").toPath)
      val e = intercept[UpkeepException](checkpoint(path))
      assert(e.getCondition == "DELTA_UPKEEP.CHECKPOINT_DAMAGED")
    }

    test(s"a _last_checkpoint of a $policy table that is damaged, or names another version") {
      val path = table(s"pointer-$policy", policy)
      val pointer = new File(path, "_delta_log/_last_checkpoint").toPath
      for (text <- Seq("{", "", "{\"version\":1,\"size\":7}", "{\"version\":900,\"size\":7}")) {
        Files.writeString(pointer, text)
        Files.deleteIfExists(pointer.resolveSibling("._last_checkpoint.crc"))
        append(path, 100)
        assert(checkpoint(path)._1 == "incremental")
        assert(Files.readString(pointer).contains(
          s"\"version\":${DeltaLog.forTable(spark, path).update().version}"
        ))
      }
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3, 100, 100, 100, 100, 100))
    }
  }
}
