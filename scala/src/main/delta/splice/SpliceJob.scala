package org.apache.spark.sql.delta.upkeep.splice

import java.util.UUID
import java.util.concurrent.LinkedBlockingQueue

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.ExecutionContext
import scala.util.{Failure, Success, Try}

import io.deltaupkeep.{ClosableIterator, Uninterrupted}
import io.deltaupkeep.parquet.file.{Refusal, SpliceOutcome}
import io.deltaupkeep.parquet.footer.{FileFacts, FileSlice, Fill, LeafTotals, RowSelection, SchemaBytes}
import io.deltaupkeep.parquet.gather.{Division, FilePart, GatherOrder}
import io.deltaupkeep.parquet.plan.SpliceSettings
import io.deltaupkeep.plan.compact.BinSplit
import io.deltaupkeep.store.NewFiles

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.schema.MessageType

import org.apache.spark.{SimpleFutureAction, SparkContext, SparkException}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.delta.upkeep.spark.{SparkJobs, TaskAttempt, TaskAttempts}
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.util.SerializableConfiguration

/**
 * What a task splices.
 *
 * @param index     of the bin in the job
 * @param inputs    in the order of their rows
 * @param directory where the new file goes
 * @param split     tells what is worth splicing without the inputs that are refused
 * @param constants columns with one value in all rows, whatever the files hold: PLAIN, or None for null
 * @param order     of the rows in the new files; None to keep theirs, in one file
 * @param division  of the inputs, if they are too large for one task
 */
final case class SpliceTask(
    index: Int,
    inputs: Seq[SpliceInput],
    directory: String,
    split: BinSplit,
    constants: Map[String, Option[Array[Byte]]] = Map.empty,
    order: Option[GatherOrder] = None,
    division: Option[Division] = None
) {
  def outputs: Int = order.fold(1)(_.outputs)

  /** What each task takes of the inputs. */
  lazy val parts: IndexedSeq[Seq[FilePart]] = division.fold(IndexedSeq(whole))(found =>
    FilePart.divided(inputs.map(_.size).toIndexedSeq, found.ofTask)
  )

  private def whole: Seq[FilePart] = inputs.indices.map(FilePart(_, FileSlice.Whole))

  /** The same for more tasks, if they could take what was too large for one or for as many as before. */
  def dividedFor(refusal: Refusal): Option[SpliceTask] =
    for {
      _ <- order
      finer <- Division.after(refusal, inputs.map(_.size).sum, division)
    } yield copy(division = Some(finer))
}

/**
 * An input by its absolute URI; size in bytes, time in milliseconds since the epoch.
 *
 * @param fills by column, what to fill in where the file has no value
 */
final case class SpliceInput(
    uri: String,
    size: Long,
    modificationTime: Long,
    deletedRows: Option[DeletedRows] = None,
    fills: Map[String, Fill] = Map.empty
)

object SpliceInput {

  /** @param path as the log of the table at `root` spells it */
  def of(root: String, path: String, size: Long, modificationTime: Long): SpliceInput =
    SpliceInput(DeltaFileOperations.absolutePath(root, path).toUri.toString, size, modificationTime)
}

/** Which rows of a file are deleted; a task reads it. */
trait DeletedRows extends Serializable {

  /** Largest amount of memory that it takes. */
  def bytes: Long

  def read(conf: Configuration): RowSelection
}

/**
 * A file that a task wrote.
 *
 * @param stats  from its footer, as JSON for the log, if they are collected
 * @param leaves what else is known of its columns, by path
 * @param traced fingerprint of the way of its rows, if they were put in another order
 */
final case class SplicedFile(
    name: String,
    rows: Long,
    size: Long,
    modificationTime: Long,
    stats: Option[String],
    leaves: Map[Seq[String], LeafTotals],
    traced: Option[Long] = None
)

/**
 * The result of a task. It has one file, or several if rows were put in another order. There is none if nothing is spliced, if the bin has no rows, and in a preview.
 *
 * @param refused inputs that cannot be spliced, by their positions
 * @param done    what became of the others, if they are worth splicing without those
 * @param finding what is wrong with a file
 * @param run     how rows were put in order
 */
final case class SpliceTaskResult(
    index: Int,
    refused: Map[Int, Refusal],
    done: Option[SpliceOutcome.Done],
    files: Seq[SplicedFile],
    finding: Option[Finding] = None,
    run: Option[OrderedRun] = None
)

/**
 * One Spark job that splices all bins of an OPTIMIZE, one task per bin, in the given order; after it, bins whose rows are put in
 * order by several tasks have jobs of their own.
 *
 * @param description shown for the jobs on the console and in the UI
 * @param conf       settings to access the files
 * @param settings   of a job by the number of its tasks
 * @param schema     of new files
 * @param keyValues  metadata of new files
 * @param isReadable whether the footer of a file allows its pages to be used unchanged; otherwise the
 *                   reason
 * @param statsOf    makes the statistics of a new file from its footer, if they are collected
 * @param spotCheck  checks each new file
 */
final class SpliceJob(
    context: SparkContext,
    description: String,
    conf: Configuration,
    settings: Int => SpliceSettings,
    schema: MessageType,
    keyValues: Map[String, String],
    isReadable: FileFacts => Option[String],
    statsOf: Option[ParquetMetadata => String],
    spotCheck: Option[SpotCheck]
) {

  /** What each task would do, from the footers alone. */
  def preview(tasks: Seq[SpliceTask]): Seq[SpliceTaskResult] = run(tasks, write = false).toSeq

  /**
   * Runs the job and returns results as they arrive. Throws if all attempts at a task have failed. If it is
   * closed early, it removes the files of all results that were not taken.
   */
  def run(tasks: Seq[SpliceTask]): ClosableIterator[SpliceTaskResult] = {
    val (divided, whole) = tasks.partition(_.division.nonEmpty)
    val taskOf = whole.map(task => task.index -> task).toMap
    val first = run(whole, write = true)
    val waiting = mutable.ArrayBuffer(divided: _*)
    val taken = first.filter { result =>
      val finer = if (result.done.isEmpty) dividedFor(taskOf(result.index), result) else None
      waiting ++= finer
      finer.isEmpty
    }.map { result =>
      val task = taskOf(result.index)
      result.copy(run = task.order.map(_ => OrderedRun(task)))
    }
    ClosableIterator(taken ++ waiting.iterator.map(ranged))(first.close())
  }

  /**
   * Finds the rows of new files that are gone by what became of the inputs since: keys are put in the same order again.
   *
   * @param runs that wrote the files, with the fates of all inputs
   * @return for each run the rows, or why they are not found: a bin is not worth more than another one of its batch, so a job
   *         that fails fails nothing else
   */
  def late(runs: Seq[(OrderedRun, IndexedSeq[InputFate])]): Seq[Either[Refusal, Seq[MarkedFile]]] = {
    val found = mutable.Map.empty[Int, Either[Refusal, Seq[MarkedFile]]]
    val ofOneTask = runs.zipWithIndex.collect { case ((OrderedRun(task, None), fates), at) =>
      (at, task, fates)
    }
    if (ofOneTask.nonEmpty) {
      val work = context.broadcast(workOf(ofOneTask.size, write = true))
      found ++= tried(ofOneTask.map(_._1)) {
        SparkJobs.described(context, description) {
          context
            .parallelize(ofOneTask, ofOneTask.size)
            .map { case (at, task, fates) => at -> work.value.ofKeys(task).late(task, fates) }
            .collect()
            .toMap
        }
      }
    }
    runs.zipWithIndex.foreach {
      case ((OrderedRun(task, Some(ranges)), fates), at) =>
        val work = workOf(task.parts.size, write = true).ofKeys(task)
        found ++= tried(Seq(at)) {
          Map(at -> new RangedGather(context, description, work, task, fates).late(ranges))
        }
      case _ => ()
    }
    runs.indices.map(found)
  }

  private def tried[T](runs: Seq[Int])(job: => Map[Int, Either[Refusal, T]]): Map[Int, Either[Refusal, T]] =
    try job
    catch { case failed: SparkException => runs.map(_ -> Left(Refusal(failed.getMessage))).toMap }

  @tailrec
  private def ranged(task: SpliceTask): SpliceTaskResult = {
    val result = new RangedGather(context, description, workOf(task.parts.size, write = true), task).run()
    dividedFor(task, result) match {
      case Some(finer) => ranged(finer)
      case None => result
    }
  }

  private def dividedFor(task: SpliceTask, result: SpliceTaskResult): Option[SpliceTask] =
    result.refused.valuesIterator.nextOption().flatMap(task.dividedFor)

  private def run(tasks: Seq[SpliceTask], write: Boolean): ClosableIterator[SpliceTaskResult] =
    if (tasks.isEmpty) ClosableIterator.empty
    else {
      val work = workOf(tasks.size, write)
      val broadcast = context.broadcast(work)
      new ArrivingResults(
        context,
        description,
        context.parallelize(tasks, tasks.size),
        (one: Iterator[SpliceTask]) => broadcast.value.run(one.next()),
        attempt => if (write) work.filesOf(tasks(attempt.index), attempt.id) else Nil,
        conf
      )
    }

  private def workOf(tasks: Int, write: Boolean): SpliceWork = SpliceWork(
    UUID.randomUUID,
    new SerializableConfiguration(conf),
    settings(tasks),
    SchemaBytes.of(schema),
    keyValues,
    isReadable,
    statsOf,
    spotCheck,
    write
  )
}

/**
 * Runs a Spark job. If it is closed early, it cancels the job and removes the files of all results that were not taken.
 *
 * @param filesOf the files that an attempt at a task may have written
 */
private[splice] final class ArrivingResults[T](
    context: SparkContext,
    description: String,
    items: RDD[T],
    run: Iterator[T] => SpliceTaskResult,
    filesOf: TaskAttempt => Seq[Path],
    conf: Configuration
) extends ClosableIterator[SpliceTaskResult] {
  import ArrivingResults._

  private val events = new LinkedBlockingQueue[Try[SpliceTaskResult]]
  private val taken = mutable.HashSet.empty[String]
  private val job = submit()
  private var left = items.getNumPartitions

  private def submit(): SimpleFutureAction[Unit] = {
    val job = SparkJobs.described(context, description) {
      context.submitJob[T, SpliceTaskResult, Unit](
        items,
        run,
        items.partitions.indices,
        (_, result) => { events.add(Success(result)); () },
        ()
      )
    }
    job.onComplete {
      case Failure(problem) => events.add(Failure(problem))
      case Success(_) => ()
    }(sameThread)
    job
  }

  override def hasNext: Boolean = left > 0

  override def next(): SpliceTaskResult = {
    val result = events.take().get
    left -= 1
    taken ++= result.files.map(_.name)
    result
  }

  override def close(): Unit = if (left > 0) {
    job.cancel()
    val attempts = Uninterrupted(TaskAttempts.ofEnded(context, job.jobIds.head, WaitMs))
    NewFiles.remove(attempts.flatMap(filesOf).filterNot(file => taken(file.getName)), conf)
  }
}

private[splice] object ArrivingResults {

  /** How long an aborted job waits for its tasks to end: tasks that are killed remove their files themselves. */
  private val WaitMs = 10000L
  private val sameThread: ExecutionContext = ExecutionContext.fromExecutor(_.run())
}
