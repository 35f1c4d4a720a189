package org.apache.spark.sql.delta.upkeep.rewrite

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.store.WholeFileSystem

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.upkeep.{TestEvents, TestSession}

/** An OPTIMIZE that does not end: the new files that it has not committed are removed. */
class AbortedRewriteSuite extends AnyFunSuite {
  import AbortedRewriteSuite._
  import TestSession._

  private val WaitMs = 60000L
  private val commitPerBin = "spark.databricks.delta.optimize.batchSize" -> "1"

  /** A table with files of two commits in each of its partitions. */
  private def newPartitions(name: String): String = {
    val directory = new File(root, name).getAbsolutePath
    val path = s"whole://$directory"
    for (from <- Seq(0, Partitions))
      spark.range(from.toLong, from.toLong + Partitions, 1, 2).selectExpr("id", s"id % $Partitions AS p")
        .write.format("delta").partitionBy("p").mode("append").save(path)
    path
  }

  /** The data files below a table's directory. */
  private def dataFiles(path: String): Set[String] =
    Files.walk(new File(path.stripPrefix("whole://")).toPath).iterator.asScala
      .map(_.toString).filter(file => file.endsWith(".parquet") && !file.contains("_delta_log")).toSet

  /** The data files that any commit has added. */
  private def filesInLog(path: String): Set[String] = {
    DeltaLog.clearCache()
    val log = DeltaLog.forTable(spark, path)
    (0L to log.update().version).flatMap { version =>
      val commit = new File(path.stripPrefix("whole://"), f"_delta_log/$version%020d.json")
      Files.readAllLines(commit.toPath).asScala.map(Action.fromJson).collect { case add: AddFile =>
        new File(path.stripPrefix("whole://"), add.toPath.toString).getPath
      }
    }.toSet
  }

  private def assertRowsAreThere(path: String): Unit = assert(ids(path) == (0 until 2 * Partitions))

  private def withEngine(engine: String)(body: => Unit): Unit =
    withConf("spark.deltaUpkeep.optimize.engine" -> engine, commitPerBin)(body)

  for (engine <- Seq("auto", "rows")) {

    test(s"$engine: a file that is missing stops it, and it leaves what it has committed") {
      val path = newPartitions(s"aborted-missing-$engine")
      val missing = filesInLog(path).filter(_.contains(s"p=${Partitions - 1}")).head
      Files.delete(new File(missing).toPath)
      withEngine(engine) {
        val failure = intercept[UpkeepException](spark.sql(s"OPTIMIZE delta.`$path`"))
        assert(failure.getCondition == "DELTA_UPKEEP.DATA_FILE_MISSING")
      }
      assert(dataFiles(path) == filesInLog(path) - missing)
    }

    test(s"$engine: a commit that fails leaves no files of other bins") {
      val path = newPartitions(s"aborted-commit-$engine")
      val before = dataFiles(path)
      val lost = new TestEvents {
        override def preparing(): Unit = throw new IllegalStateException("no commit")
      }
      withEngine(engine) {
        lost.observe {
          assert(intercept[Exception](spark.sql(s"OPTIMIZE delta.`$path`")).getMessage.contains("no commit"))
        }
      }
      // Nobody knows whether the one that failed is in the log.
      assert((dataFiles(path) -- before).size == 1)
      assert(before.subsetOf(dataFiles(path)))
      assertRowsAreThere(path)
    }
  }

  for (interrupts <- Seq(true, false))
    test(s"the cancelling of a splice, ${if (interrupts) "which interrupts" else "which asks"}") {
      val path = newPartitions(s"aborted-cancel-$interrupts")
      val before = dataFiles(path)
      cancel(s"OPTIMIZE delta.`$path`", interrupts)
      assert(dataFiles(path) == before)
      assertRowsAreThere(path)
      spark.sql(s"OPTIMIZE delta.`$path`")
      assertRowsAreThere(path)
    }

  /** Cancels a statement's jobs while one of its tasks writes a file. */
  private def cancel(statement: String, interrupts: Boolean): Unit =
    WholeFileSystem.holding("part-.*\\.parquet") { held =>
      val context = spark.sparkContext
      var failure = Option.empty[Throwable]
      val user = new Thread({ () =>
        context.setJobGroup("to be cancelled", statement, interruptOnCancel = interrupts)
        try spark.sql(statement)
        catch { case e: Throwable => failure = Some(e) }
        ()
      })
      user.start()
      held.await()
      context.cancelJobGroup("to be cancelled")
      if (interrupts) {
        // Its clean-up too.
        val until = System.nanoTime() + WaitMs * 1000000
        while (user.isAlive && System.nanoTime() < until) {
          user.interrupt()
          user.join(5)
        }
        held.awaitEnd()
      } else {
        held.goOn()
        user.join(WaitMs)
      }
      assert(!user.isAlive && failure.nonEmpty)
    }
}

private object AbortedRewriteSuite {
  private val Partitions = 6
}
