package org.apache.spark.sql.delta.upkeep.splice

import java.io.{File, IOException}
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import io.deltaupkeep.parquet.SmallSpliceSettings
import io.deltaupkeep.parquet.cut.Lexicographic
import io.deltaupkeep.parquet.file.Refusal
import io.deltaupkeep.parquet.footer.FileFacts
import io.deltaupkeep.parquet.gather.{Division, GatherOrder}
import io.deltaupkeep.plan.compact.{BinSplit, RewriteNeed}

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.upkeep.TestSession

/** Several tasks put four files of a hundred rows in order, and something happens to one of them. */
class RangedGatherSuite extends AnyFunSuite {
  import RangedGatherSuite._
  import TestSession.{root, spark}

  private def files(directory: File): Seq[File] =
    Option(directory.listFiles()).toSeq.flatten.filter(_.getName.endsWith(".parquet"))

  /** @param look at the file with this number that a task opens: its parts twice, and then the pieces of ranges */
  private def run(look: Int => Option[String]): (SpliceTaskResult, File) = {
    val name = UUID.randomUUID.toString
    val (from, to) = (new File(root, s"$name-in"), new File(root, s"$name-out"))
    spark.range(0, 400, 1, 4).selectExpr("id * 7 % 400 AS id").write.parquet(from.toString)
    val inputs = files(from).map(f => SpliceInput(f.toURI.toString, f.length, f.lastModified))
    val counter = name
    val isReadable = (_: FileFacts) => look(opened(counter).incrementAndGet())
    val job = new SpliceJob(
      spark.sparkContext,
      name,
      new Configuration(false),
      _ => SmallSpliceSettings(),
      MessageTypeParser.parseMessageType("message m { optional int64 id; }"),
      Map.empty,
      isReadable,
      None,
      None
    )
    val task = SpliceTask(
      0,
      inputs,
      to.toURI.toString,
      BinSplit(inputs.map(_ => RewriteNeed.Together).toIndexedSeq),
      order = Some(GatherOrder(Seq(Seq("id")), Lexicographic(IndexedSeq(false)), outputs = 4)),
      division = Some(Division(inputs.map(_.size).max, "the test says so"))
    )
    assert(task.parts.size == 4)
    val results =
      try job.run(Seq(task)).toSeq
      finally lastDirectory = to
    assert(results.size == 1)
    (results.head, to)
  }

  private var lastDirectory = root

  private def isInOrder(result: SpliceTaskResult, directory: File): Boolean = {
    assert(result.done.exists(done => done.rows == 400 && done.rowGroupsBefore == 4))
    assert(files(directory).map(_.getName).toSet == result.files.map(_.name).toSet)
    val ids = result.files.map { file =>
      spark.read.parquet(new File(directory, file.name).toString).collect().toSeq.map(_.getLong(0))
    }
    ids.sortBy(_.head).flatten == (0L until 400L)
  }

  test("rows are in order within files and over all of them") {
    val (result, directory) = run(_ => None)
    assert(result.files.size >= 4 && isInOrder(result, directory))
    assert(result.done.exists(_.reason.endsWith("by several tasks: the test says so")))
  }

  test("a task that fails is tried again, wherever it was, and leaves nothing behind") {
    for (number <- Seq(2, 7, 10, 14)) {
      val (result, directory) = run { file =>
        if (file == number && TaskContext.get().attemptNumber() == 0) throw new IOException("out of luck")
        None
      }
      assert(isInOrder(result, directory), s"file $number")
    }
  }

  test("a task that fails for good fails the job, and leaves nothing behind") {
    for (first <- Seq(1, 6, 12)) {
      val failure = intercept[Exception](run { file =>
        if (file >= first) throw new IOException("no luck at all")
        None
      })
      assert(failure.getMessage.contains("no luck at all"), s"from file $first on")
      assert(files(lastDirectory).isEmpty, s"from file $first on")
    }
  }

  test("what one task refuses is refused as a whole, and leaves nothing behind") {
    for (number <- Seq(3, 8, 9, 15)) {
      val (result, directory) = run(file => Option.when(file == number)("it is strange"))
      assert(result.refused == (0 until 4).map(_ -> Refusal("it is strange")).toMap, s"file $number")
      assert(result.done.isEmpty && result.files.isEmpty && files(directory).isEmpty, s"file $number")
    }
  }
}

/** Counters that tasks in this JVM share. */
private object RangedGatherSuite {
  private val counters = new java.util.concurrent.ConcurrentHashMap[String, AtomicInteger]

  def opened(run: String): AtomicInteger = counters.computeIfAbsent(run, _ => new AtomicInteger)
}
