package org.apache.spark.sql.delta.upkeep.splice

import java.io.{File, IOException}
import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import io.deltaupkeep.parquet.SmallSpliceSettings
import io.deltaupkeep.parquet.file.Refusal
import io.deltaupkeep.parquet.footer.FileFacts
import io.deltaupkeep.plan.compact.{BinSplit, RewriteNeed}

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
    gatherBytes = 32L << 20,
    heldFileBytes = 1 << 18,
    fetches = 1,
    threads = 1
  )

  private def files(directory: File): Seq[File] =
    Option(directory.listFiles()).toSeq.flatten.filter(_.getName.endsWith(".parquet"))

  private def run(name: String, change: Seq[File] => Unit = _ => ())(
      isReadable: FileFacts => Option[String]
  ): (Seq[SpliceTaskResult], File) = {
    val (from, to) = (new File(root, s"$name-in"), new File(root, s"$name-out"))
    spark.range(0, 400, 1, 4).write.parquet(from.toString)
    change(files(from))
    val inputs = files(from).map(f => SpliceInput(f.toURI.toString, f.length, f.lastModified))
    val schema = MessageTypeParser.parseMessageType("message m { optional int64 id; }")
    val conf = new Configuration(false)
    val job =
      new SpliceJob(spark.sparkContext, name, conf, _ => settings, schema, Map.empty, isReadable, None, None)
    val split = BinSplit(inputs.map(_ => RewriteNeed.Together).toIndexedSeq)
    (job.run(Seq(SpliceTask(0, inputs, to.toURI.toString, split))).toSeq, to)
  }

  test("a task that fails is tried again, and leaves nothing behind") {
    val (results, directory) = run("flaky") { _ =>
      if (TaskContext.get().attemptNumber() == 0 && SpliceJobSuite.inputs.incrementAndGet() == 4)
        throw new IOException("out of luck")
      None
    }
    assert(SpliceJobSuite.inputs.get == 4)
    assert(results.flatMap(_.done).map(_.rows) == Seq(400))
    assert(files(directory).map(_.getName) == results.flatMap(_.files).map(_.name))
    assert(spark.read.parquet(directory.toString).distinct().count() == 400)
  }

  test("a task that fails for good fails the job, and leaves nothing behind") {
    val directory = new File(root, "broken-out")
    val failure = intercept[Exception](run("broken")(_ => throw new IOException("no luck at all")))
    assert(failure.getMessage.contains("no luck at all") && files(directory).isEmpty)
  }

  test("an input that is refused is left out") {
    val (results, directory) = run("oneRefused") { _ =>
      Option.when(SpliceJobSuite.refusals.incrementAndGet() == 4)("the fourth is strange")
    }
    assert(results.map(_.refused) == Seq(Map(3 -> Refusal("the fourth is strange"))))
    assert(results.flatMap(_.done).map(_.rows) == Seq(300))
    assert(files(directory).map(_.getName) == results.flatMap(_.files).map(_.name))
    assert(spark.read.parquet(directory.toString).distinct().count() == 300)
  }

  test("where too few inputs are left, nothing is left behind") {
    val (results, directory) = run("allButOneRefused") { _ =>
      Option.when(SpliceJobSuite.others.incrementAndGet() != 2)("strange")
    }
    assert(results.map(_.refused.keySet) == Seq(Set(0, 2, 3)) && results.forall(_.done.isEmpty))
    assert(results.forall(_.files.isEmpty) && files(directory).isEmpty)
  }

  test("an input that is refused by its pages is left out, and so is another one") {
    def damaged(file: File): Unit = {
      val bytes = Files.readAllBytes(file.toPath)
      java.util.Arrays.fill(bytes, 4, 40, 0xff.toByte)
      Files.write(file.toPath, bytes)
      // Hadoop's own checksum would find it out before the splice.
      Files.deleteIfExists(file.toPath.resolveSibling(s".${file.getName}.crc"))
      ()
    }
    val (results, directory) =
      run("damagedPages", files => Seq(1, 3).map(files(_)).foreach(damaged))(_ => None)
    assert(results.map(_.refused.keySet) == Seq(Set(1, 3)))
    assert(results.flatMap(_.refused.values).forall(_.isMalformed))
    assert(files(directory).map(_.getName) == results.flatMap(_.files).map(_.name))
    assert(spark.read.parquet(directory.toString).distinct().count() == 200)
  }
}

/** Counters that tasks in this JVM share. */
private object SpliceJobSuite {
  val inputs = new AtomicInteger
  val refusals = new AtomicInteger
  val others = new AtomicInteger
}
