package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.File
import java.nio.file.Files
import java.time.Clock

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.deltaupkeep.store.WholeFileSystem
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.json4s.jackson.JsonMethods
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.hook.{CheckpointWorker, PendingCheckpoint}
import org.apache.spark.sql.delta.upkeep.read.CheckpointFooter

/**
 * An interrupt while a checkpoint is published, on a store that shows no partial write and publishes what an
 * interrupted thread has written: no half a checkpoint has its final name.
 */
class InterruptedCheckpointSuite extends AnyFunSuite {
  import InterruptedCheckpointSuite._
  import TestSession._

  private val WaitMs = 60000L

  private def newLog(name: String, hasV2: Boolean): (String, File) = {
    val directory = new File(root, name)
    val feature = Option.when(hasV2)("delta.feature.v2Checkpoint" -> "supported")
    val properties = Seq("delta.checkpointInterval" -> "1000") ++ feature
    (
      newTableAt(s"whole://${directory.getAbsolutePath}", 4, properties: _*),
      new File(directory, "_delta_log")
    )
  }

  private def checkpointsIn(log: File): Seq[File] =
    log.listFiles().toSeq.filter(_.getName.matches("\\d{20}\\.checkpoint\\..*"))

  /** Half a file of either format cannot be parsed. */
  private def assertWhole(file: File): Unit =
    if (file.getName.endsWith(".json"))
      Files.readAllLines(file.toPath).asScala.foreach(line => JsonMethods.parse(line))
    else {
      val status = new FileStatus(file.length, false, 1, 0, 0, new Path(file.toURI))
      CheckpointFooter.read(status, new Configuration())(_ => ())
    }

  private def assertReadable(path: String, oldest: Long): Unit = {
    DeltaLog.clearCache()
    val newest = DeltaLog.forTable(spark, path).update().version
    for (version <- oldest to newest)
      assert(
        spark.read.format("delta").option("versionAsOf", version).load(path).count() == math.min(version, 4L)
      )
  }

  /** Cancels the statement's jobs and interrupts its thread while it writes a file. */
  private def interrupt(statement: String, file: String, isWrittenByTask: Boolean): Unit =
    WholeFileSystem.holding(file) { held =>
      val context = spark.sparkContext
      val user = new Thread({ () =>
        context.setJobGroup("to be cancelled", statement, interruptOnCancel = true)
        Try(spark.sql(statement))
        ()
      })
      user.start()
      held.await()
      context.cancelJobGroup("to be cancelled")
      user.interrupt()
      // A task may not go on before the interrupt has come.
      if (isWrittenByTask) held.awaitEnd() else held.goOn()
      user.join(WaitMs)
      assert(!user.isAlive)
    }

  for ((what, options, file, isWrittenByTask) <- checkpoints)
    test(s"the cancelling of a job: $what") {
      val (path, log) = newLog(s"cancelled-${what.filter(_.isLetterOrDigit)}", options.contains("v2"))
      val statement = s"CHECKPOINT delta.`$path` $options"
      interrupt(statement, file, isWrittenByTask)
      checkpointsIn(log).foreach(assertWhole)
      assertReadable(path, oldest = 0)
      spark.sql(statement)
      assert(checkpointsIn(log).nonEmpty)
      checkpointsIn(log).foreach(assertWhole)
      // The checkpoint alone, without the commits before it.
      (0 to 3).foreach(version => Files.delete(new File(log, f"$version%020d.json").toPath))
      assertReadable(path, oldest = 4)
    }

  test("the cancelling of a job: the compatibility checkpoint of CLEANUP LOG") {
    val (path, log) = newLog("cancelled-cleanup", hasV2 = true)
    spark.sql(s"CHECKPOINT delta.`$path` OPTIONS (policy = 'v2')")
    log.listFiles().foreach(_.setLastModified(System.currentTimeMillis() - 40L * 24 * 3600 * 1000))
    append(path, 100)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id = 100")
    DeltaLog.clearCache()
    interrupt(s"CLEANUP LOG delta.`$path`", "\\.?\\d{20}\\.checkpoint\\.parquet.*", isWrittenByTask = true)
    checkpointsIn(log).foreach(assertWhole)
    DeltaLog.clearCache()
    spark.sql(s"CLEANUP LOG delta.`$path`")
    val classicNamed = new File(log, f"${4}%020d.checkpoint.parquet")
    assert(classicNamed.exists() && !new File(log, f"${0}%020d.json").exists())
    assertWhole(classicNamed)
  }

  test("the end of the application") {
    val (path, log) = newLog("ended", hasV2 = false)
    val snapshot = DeltaLog.forTable(spark, path).update()
    val worker = new CheckpointWorker(spark.sparkContext, graceMs = 0, Clock.systemUTC())
    WholeFileSystem.holding(classic) { held =>
      worker.submit(PendingCheckpoint(spark, snapshot, None, snapshot.version, "a test"))
      held.await()
      worker.finish()
      held.goOn()
      assert(worker.drain(WaitMs))
    }
    assert(checkpointsIn(log).size == 1 && new File(log, "_last_checkpoint").exists())
    checkpointsIn(log).foreach(assertWhole)
    assertReadable(path, oldest = 0)
  }
}

private object InterruptedCheckpointSuite {

  val classic = "\\d{20}\\.checkpoint\\.parquet"

  /** What is written, its options, the file during which it is interrupted, and whether a task writes that. */
  val checkpoints: Seq[(String, String, String, Boolean)] = Seq(
    ("classic", "", classic, false),
    ("several parts", "OPTIONS (partSize = 2)", "\\d{20}\\.checkpoint\\.\\d{10}\\.\\d{10}\\.parquet", false),
    ("v2", "OPTIONS (policy = 'v2')", "\\d{20}\\.checkpoint\\.[-0-9a-f]{36}\\.json", false),
    (
      "v2 as Parquet",
      "OPTIONS (policy = 'v2', format = 'parquet')",
      "\\.?\\d{20}\\.checkpoint\\.[-0-9a-f]{36}\\.parquet.*",
      true
    )
  )
}
