package org.apache.spark.sql.delta.upkeep.read

import java.io.File
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.{Templates, TestSession}
import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}

/** A last checkpoint that is not what it should be makes a checkpoint in full, not an error. */
class DamagedCheckpointSuite extends AnyFunSuite {
  import TestSession._
  import spark.implicits._

  private val policies = Seq("classic", "v2")

  /** A table with a checkpoint of version 3, and commits since. */
  private def table(name: String, policy: String): String = {
    val path = new File(root, name).getAbsolutePath
    Templates.copy(path, ("a checkpoint of version 3", policy)) { at =>
      newTableAt(at, 3, "delta.checkpointPolicy" -> policy, "delta.checkpointInterval" -> "1000")
      checkpoint(at)
      append(at, 100)
    }
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

  private def damage(file: Path): Unit = cut(file, 100)

  private def cut(file: Path, bytes: Int): Unit = {
    Files.write(file, Files.readAllBytes(file).take(bytes))
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

  private def topLevel(path: String): Path = logFiles(path)
    .find(file =>
      file.getFileName.toString.matches("\\d{20}\\.checkpoint\\..*") && file.getParent.endsWith("_delta_log")
    )
    .get

  /** How a checkpoint is written, what then happens to its files, and what mends it. */
  private val damages = Seq[(String, String, String, String => Unit)](
    ("classic, cut off", "", "auto", path => damage(topLevel(path))),
    (
      "classic, without its last byte",
      "",
      "full",
      path => cut(topLevel(path), Files.size(topLevel(path)).toInt - 1)
    ),
    ("several parts, one cut off", "partSize = 2", "full", path => damage(topLevel(path))),
    ("v2, a sidecar cut off", "policy = 'v2'", "auto", path => damage(fileOf(path))),
    ("v2, a sidecar missing", "policy = 'v2'", "full", path => Files.delete(fileOf(path))),
    ("v2, its JSON cut off in a line", "policy = 'v2'", "auto", path => cut(topLevel(path), 700)),
    (
      "v2, its JSON without the last lines",
      "policy = 'v2'",
      "full",
      { path =>
        val lines = Files.readString(topLevel(path)).linesWithSeparators.take(2)
        cut(topLevel(path), lines.map(_.length).sum)
      }
    )
  )

  for (((what, options, mode, hurt), i) <- damages.zipWithIndex)
    test(s"the checkpoint of the very version is replaced: $what") {
      val supported = Option.when(what.startsWith("v2"))("delta.feature.v2Checkpoint" -> "supported")
      val path = newTable(s"newest-$i", 3, Seq("delta.checkpointInterval" -> "1000") ++ supported: _*)
      checkpoint(path, if (options.isEmpty) "" else s"OPTIONS ($options)")
      hurt(path)
      val again = (options +: Seq(s"mode = '$mode'")).filter(_.nonEmpty).mkString("OPTIONS (", ", ", ")")
      val (built, reason) = checkpoint(path, again)
      assert(built == "full" && reason.contains("damaged and is replaced"), reason)
      info(reason)
      assert(checkpoint(path, again)._1 == "none")
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3))
    }

  test("the classic checkpoint of another driver that is cut off is replaced, and a whole one is not") {
    for (isCut <- Seq(true, false)) {
      val path = newTable(s"other-driver-$isCut", 3, "delta.checkpointInterval" -> "1000")
      val handle = DeltaHandle.open(
        spark,
        "TEST",
        DeltaTarget.byPath(spark, "TEST", path, Map.empty),
        Intent.Checkpoint
      )
      val late = TableCheckpoint(handle, CheckpointRequest(None, None, None, Mode.Auto))
      assert(!late.plan.isEmpty)
      checkpoint(path)
      val theirs = topLevel(path)
      if (isCut) damage(theirs)
      val before = Files.size(theirs)
      late.write()
      assert((Files.size(theirs) == before) != isCut)
      assert(idsFromCheckpoint(path) == Seq(1, 2, 3))
    }
  }

  for (policy <- policies) {
    test(s"a missing file of a $policy checkpoint") {
      val path = table(s"missing-$policy", policy)
      Files.delete(fileOf(path))
      val (mode, reason) = checkpoint(path)
      assert(
        mode == "full" && (reason.contains("damaged") || reason.contains("no earlier checkpoint")),
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
