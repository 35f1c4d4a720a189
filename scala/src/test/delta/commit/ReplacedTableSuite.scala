package org.apache.spark.sql.delta.upkeep.commit

import java.io.File
import java.time.Clock

import io.deltaupkeep.store.WholeFileSystem
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.hook.{CheckpointWorker, PendingCheckpoint}

/** A table that is dropped, and maybe created anew at its path, while a checkpoint of it is written. */
class ReplacedTableSuite extends AnyFunSuite {
  import ReplacedTableSuite._
  import TestSession._

  private val WaitMs = 60000L

  private def deleteAll(file: File): Unit = {
    Option(file.listFiles()).foreach(_.foreach(deleteAll))
    file.delete()
    ()
  }

  private def filesIn(directory: File): Set[String] =
    Option(directory.listFiles()).toSeq.flatten
      .flatMap(file => if (file.isDirectory) filesIn(file) + file.getPath else Set(file.getPath))
      .filterNot(_.contains("_last_checkpoint.")).toSet

  /** Writes a checkpoint in the background, and does something else once a file of it is being written. */
  private def during(path: String, file: String)(meanwhile: => Unit): Unit = {
    val snapshot = newest(path)
    val worker = new CheckpointWorker(spark.sparkContext, WaitMs, Clock.systemUTC())
    WholeFileSystem.holding(file) { held =>
      worker.submit(PendingCheckpoint(spark, snapshot, None, snapshot.version, "a test"))
      held.await()
      meanwhile
      held.goOn()
      assert(worker.drain(WaitMs))
    }
    worker.finish()
  }

  private def newTableIn(directory: File, policy: String, commits: Int): String =
    newTableAt(
      s"whole://${directory.getAbsolutePath}",
      commits,
      "delta.checkpointInterval" -> "1000",
      "delta.checkpointPolicy" -> policy
    )

  for ((policy, what, file) <- files) {
    test(s"$policy: a table that is dropped while $what is written stays dropped") {
      val directory = new File(root, s"dropped-$policy-${what.filter(_.isLetter)}")
      during(newTableIn(directory, policy, 3), file)(deleteAll(directory))
      assert(!directory.exists(), filesIn(directory))
    }

    test(s"$policy: a table that is created anew while $what is written keeps its own log") {
      val directory = new File(root, s"recreated-$policy-${what.filter(_.isLetter)}")
      var log = Set.empty[String]
      during(newTableIn(directory, policy, 3), file) {
        deleteAll(directory)
        DeltaLog.clearCache()
        newTableIn(directory, policy, 4)
        log = filesIn(directory)
      }
      assert(filesIn(directory) == log)
      assert(ids(s"whole://${directory.getAbsolutePath}") == Seq(1, 2, 3, 4))
    }
  }
}

private object ReplacedTableSuite {

  /** The policy, and the file during which the table changes. */
  val files: Seq[(String, String, String)] = Seq(
    ("classic", "the checkpoint", "\\d{20}\\.checkpoint\\.parquet"),
    ("v2", "a sidecar", "\\d{20}\\.checkpoint\\.\\d{10}\\.\\d{10}\\..*\\.parquet"),
    ("v2", "the top-level file", "\\d{20}\\.checkpoint\\.[-0-9a-f]{36}\\.json")
  )
}
