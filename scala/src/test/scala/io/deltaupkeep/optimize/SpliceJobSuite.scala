package io.deltaupkeep.optimize

import java.io.{File, IOException}
import java.util.concurrent.atomic.AtomicInteger

import io.deltaupkeep.parquet.SmallSpliceSettings
import io.deltaupkeep.parquet.file.SpliceOutcome

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.upkeep.TestSession

class SpliceJobSuite extends AnyFunSuite {
  import TestSession.{root, spark}

  // Each row group is written before the next input is looked at.
  private val settings = SmallSpliceSettings().copy(
    rowGroupBytes = 1,
    copyFromBytes = 1,
    bytesInFlight = 1 << 20,
    heldFileBytes = 1 << 18,
    fetches = 1,
    threads = 1
  )

  private def files(directory: File): Seq[File] =
    Option(directory.listFiles()).toSeq.flatten.filter(_.getName.endsWith(".parquet"))

  private def run(name: String)(isReadable: Map[String, String] => Option[String])
      : (Seq[SpliceTaskResult], File) = {
    val (from, to) = (new File(root, s"$name-in"), new File(root, s"$name-out"))
    spark.range(0, 400, 1, 4).write.parquet(from.toString)
    val inputs = files(from).map(f => SpliceInput(f.toURI.toString, f.length, f.lastModified))
    val schema = MessageTypeParser.parseMessageType("message m { optional int64 id; }")
    val conf = new Configuration(false)
    val job = new SpliceJob(spark.sparkContext, name, conf, settings, schema, Map.empty, isReadable, None)
    (job.run(Seq(SpliceTask(0, inputs, to.toURI.toString))).toSeq, to)
  }

  test("a task that fails is tried again, and leaves nothing behind") {
    val (results, directory) = run("flaky") { _ =>
      if (TaskContext.get().attemptNumber() == 0 && SpliceJobSuite.inputs.incrementAndGet() == 4)
        throw new IOException("out of luck")
      None
    }
    assert(SpliceJobSuite.inputs.get == 4)
    assert(results.map(_.outcome).collect { case done: SpliceOutcome.Done => done.rows } == Seq(400))
    assert(files(directory).map(_.getName) == results.flatMap(_.file).map(_.name))
    assert(spark.read.parquet(directory.toString).distinct().count() == 400)
  }

  test("a task that fails for good fails the job, and leaves nothing behind") {
    val directory = new File(root, "broken-out")
    val failure = intercept[Exception](run("broken")(_ => throw new IOException("no luck at all")))
    assert(failure.getMessage.contains("no luck at all") && files(directory).isEmpty)
  }

  test("a refused bin leaves nothing behind") {
    val (results, directory) = run("refused") { _ =>
      Option.when(SpliceJobSuite.refusals.incrementAndGet() == 4)("the fourth is strange")
    }
    assert(results.map(_.outcome) == Seq(SpliceOutcome.Refused("the fourth is strange")))
    assert(results.forall(_.file.isEmpty) && files(directory).isEmpty)
  }
}

/** Counters that tasks in this JVM share. */
private object SpliceJobSuite {
  val inputs = new AtomicInteger
  val refusals = new AtomicInteger
}
