package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.Files

import scala.util.Random

import io.deltaupkeep.UpkeepException

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations, Snapshot}

/** A checkpoint that builds on the last one holds what the commits say. */
class IncrementalCheckpointSuite extends AnyFunSuite {
  import TestSession._
  import spark.implicits._

  private val v2 = Seq(
    "delta.checkpointPolicy" -> "v2",
    "delta.enableDeletionVectors" -> "true",
    // Delta makes none of its own.
    "delta.checkpointInterval" -> "1000"
  )

  /** The mode and the reason of a checkpoint. */
  private def checkpoint(path: String, options: String = ""): (String, String) = {
    val (mode, reason) = spark.sql(s"CHECKPOINT delta.`$path` $options")
      .select("mode", "reason").as[(String, String)].head()
    info(s"$mode: $reason")
    (mode, reason)
  }

  /** A copy of the log without some files, as Delta reads it. */
  private def state(path: String)(isKept: String => Boolean): Set[String] = {
    val copy = Files.createTempDirectory(root.toPath, "copy").toFile
    def copyLog(below: String): Unit = {
      new File(copy, below).mkdirs()
      new File(path, below).listFiles().foreach { file =>
        if (file.isDirectory) copyLog(s"$below/${file.getName}")
        else if (isKept(file.getName) && !file.getName.startsWith("."))
          Files.copy(file.toPath, new File(copy, s"$below/${file.getName}").toPath)
      }
    }
    copyLog("_delta_log")
    DeltaLog.clearCache()
    actions(DeltaLog.forTable(spark, copy.toString).update())
  }

  /** What a checkpoint holds: of tombstones no statistics and tags. No tags and empty ones are the same. */
  private def actions(snapshot: Snapshot): Set[String] = {
    val adds = snapshot.allFiles.collect().toSeq.map(add =>
      add.copy(tags = Option(add.tags).filter(_.nonEmpty).orNull)
    )
    val tombstones = snapshot.tombstones.collect().toSeq.map(_.copy(tags = null, stats = null))
    (adds ++ tombstones ++ snapshot.nonFileActions).map(_.json).toSet
  }

  private def assertHoldsTheTable(path: String): Unit = {
    val version = DeltaLog.forTable(spark, path).update().version
    val fromCommits = state(path)(_.matches("\\d{20}\\.json"))
    val fromCheckpoint = state(path) { name =>
      val isOlder = name.matches("\\d{20}\\.json") && name.take(20).toLong < version
      !isOlder && !name.endsWith(".crc")
    }
    assert((fromCheckpoint -- fromCommits, fromCommits -- fromCheckpoint) == (Set.empty, Set.empty))
  }

  private def change(path: String, random: Random): Unit = {
    def id = random.nextInt(40)
    val version = DeltaLog.forTable(spark, path).update().version
    random.nextInt(10) match {
      case 0 | 1 | 2 => append(path, id)
      case 3 =>
        Seq((id.toLong, id % 2)).toDF("id", "p").write.format("delta").mode("append")
          .option("txnAppId", s"app${id % 3}").option("txnVersion", version).save(path)
      case 4 | 5 => spark.sql(s"DELETE FROM delta.`$path` WHERE id = $id")
      case 6 => spark.sql(s"UPDATE delta.`$path` SET id = id + 1 WHERE id % 7 = ${id % 7}")
      case 7 => spark.sql(s"OPTIMIZE delta.`$path` OPTIONS (minInputFiles = 2)")
      case 8 => spark.sql(s"RESTORE TABLE delta.`$path` TO VERSION AS OF ${math.max(1, version - 3)}")
      case 9 => addAgain(path, random)
    }
  }

  /** Files that are there already, with nothing removed: so statistics are recomputed. */
  private def addAgain(path: String, random: Random): Unit = {
    val transaction = DeltaLog.forTable(spark, path).startTransaction(catalogTableOpt = None)
    val again = transaction.snapshot.allFiles.collect().filter(_ => random.nextBoolean())
    transaction.commit(
      again.map(_.copy(dataChange = false, tags = Map("again" -> s"${random.nextInt()}"))).toSeq,
      DeltaOperations.ManualUpdate
    )
  }

  for (seed <- 1 to 3)
    test(s"histories: seed $seed") {
      val random = new Random(seed)
      val path = newTable(s"history$seed", 6, v2: _*)
      checkpoint(path, "OPTIONS (partSize = 4)")
      val modes = (1 to 4).map { _ =>
        (1 to 3).foreach(_ => change(path, random))
        val format = if (random.nextBoolean()) "json" else "parquet"
        val (mode, _) = checkpoint(path, s"OPTIONS (partSize = 4, format = '$format')")
        assertHoldsTheTable(path)
        mode
      }
      assert(modes.contains("incremental"))
    }

  test("appends keep every full sidecar, and the next checkpoint asks only Bloom filters") {
    val path = newTable("appends", 8, v2: _*)
    assert(checkpoint(path)._1 == "full")
    append(path, 100)
    val (mode, reason) = checkpoint(path)
    assert(mode == "incremental" && reason.contains("1 changes, 1 of 1 sidecars kept"), reason)
    append(path, 101)
    // The two of one file each become one of two.
    assert(checkpoint(path)._2.contains("1 changes, 1 of 2 sidecars kept"))
    assertHoldsTheTable(path)
  }

  test("a sidecar is replaced once all its tombstones have expired") {
    val path = newTable("tombstones", 3, v2: _*)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    checkpoint(path)
    val conf = spark.sparkContext.hadoopConfiguration
    val directory = new Path(path, "_delta_log/_sidecars")
    val file = directory.getFileSystem(conf).listStatus(directory).head
    def isExpired(unexpired: Long) =
      CheckpointFooter.read(file, conf)(footer => footer.isExpired(footer.whole, unexpired))
    assert(!isExpired(unexpired = 0) && isExpired(unexpired = Long.MaxValue))
  }

  test("sidecars without Bloom filters, such as Delta's, are looked into") {
    val path = newTable("foreign", 3, "delta.checkpointPolicy" -> "v2", "delta.checkpointInterval" -> "3")
    append(path, 100)
    assert(checkpoint(path)._2.contains("1 changes, 1 of 1 sidecars kept"))
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")
    assert(checkpoint(path)._2.contains("1 changes, 0 of 2 sidecars kept"))
    assertHoldsTheTable(path)
  }

  test("metadata that changed makes a full checkpoint, with the reason") {
    val path = newTable("evolved", 2, v2: _*)
    checkpoint(path)
    spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN extra STRING")
    val (mode, reason) = checkpoint(path)
    assert(mode == "full" && reason.contains("metadata changed"), reason)
    assertHoldsTheTable(path)
  }

  test("a checkpoint that would hold other files than the checksum counts is not published") {
    val path = newTable("mismatch", 5, v2: _*)
    checkpoint(path)
    append(path, 100)
    val checksum = new File(path, "_delta_log/00000000000000000006.crc").toPath
    Files.writeString(checksum, Files.readString(checksum).replace("\"numFiles\":6", "\"numFiles\":7"))
    Files.delete(checksum.resolveSibling(s".${checksum.getFileName}.crc"))
    DeltaLog.clearCache()
    val e = intercept[UpkeepException](checkpoint(path))
    assert(e.getCondition == "DELTA_UPKEEP.CHECKPOINT_MISMATCH")
    assert(!new File(path, "_delta_log").list().exists(_.startsWith("00000000000000000006.checkpoint")))
  }
}
