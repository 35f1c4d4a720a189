package org.apache.spark.sql.delta.upkeep.splice

import java.util.UUID
import java.util.concurrent.LinkedBlockingQueue

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.ExecutionContext
import scala.util.{Failure, Success, Try}

import io.deltaupkeep.{ClosableIterator, Uninterrupted, UnreadableInput}
import io.deltaupkeep.parquet.file.{FileSplicer, Refusal, SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.{FileFacts, Fill, InputRows, RowSelection, SchemaBytes}
import io.deltaupkeep.parquet.plan.SpliceSettings
import io.deltaupkeep.plan.compact.BinSplit
import io.deltaupkeep.store.{NewFiles, OutputFiles}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.schema.MessageType

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.delta.upkeep.spark.{JobProgress, TaskAttempts}
import org.apache.spark.sql.delta.upkeep.table.InputFailures
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
 */
final case class SpliceTask(
    index: Int,
    inputs: Seq[SpliceInput],
    directory: String,
    split: BinSplit,
    constants: Map[String, Option[Array[Byte]]] = Map.empty
)

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
 * The file that a task wrote.
 *
 * @param stats from its footer, as JSON for the log, if they are collected
 */
final case class SplicedFile(name: String, size: Long, modificationTime: Long, stats: Option[String])

/**
 * The result of a task. There is no file if nothing is spliced, if the bin has no rows, and in a preview.
 *
 * @param refused inputs that cannot be spliced, by their positions
 * @param done    what became of the others, if they are worth splicing without those
 * @param finding what is wrong with the file
 */
final case class SpliceTaskResult(
    index: Int,
    refused: Map[Int, Refusal],
    done: Option[SpliceOutcome.Done],
    file: Option[SplicedFile],
    finding: Option[Finding] = None
)

/**
 * One Spark job that splices all bins of an OPTIMIZE, one task per bin, in the given order.
 *
 * @param description shown for the job on the console and in the UI
 * @param conf       settings to access the files
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
    settings: SpliceSettings,
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
  def run(tasks: Seq[SpliceTask]): ClosableIterator[SpliceTaskResult] = run(tasks, write = true)

  private def run(tasks: Seq[SpliceTask], write: Boolean): ClosableIterator[SpliceTaskResult] =
    if (tasks.isEmpty) ClosableIterator.empty
    else {
      val work = SpliceWork(
        UUID.randomUUID,
        new SerializableConfiguration(conf),
        settings,
        SchemaBytes.of(schema),
        keyValues,
        isReadable,
        statsOf,
        spotCheck,
        write
      )
      val broadcast = context.broadcast(work)
      val events = new LinkedBlockingQueue[Try[SpliceTaskResult]]
      val before = context.getLocalProperty(SpliceJob.Description)
      context.setJobDescription(description)
      val job = context.submitJob[SpliceTask, SpliceTaskResult, Unit](
        context.parallelize(tasks, tasks.size),
        (one: Iterator[SpliceTask]) => broadcast.value.run(one.next()),
        tasks.indices,
        (_, result) => { events.add(Success(result)); () },
        ()
      )
      context.setJobDescription(before)
      job.onComplete {
        case Failure(problem) => events.add(Failure(problem))
        case Success(_) => ()
      }(SpliceJob.sameThread)
      new ClosableIterator[SpliceTaskResult] {
        private var left = tasks.size
        private val taken = mutable.HashSet.empty[String]
        override def hasNext: Boolean = left > 0
        override def next(): SpliceTaskResult = {
          val result = events.take().get
          left -= 1
          taken ++= result.file.map(_.name)
          result
        }
        override def close(): Unit = if (left > 0) {
          job.cancel()
          if (write) {
            val attempts = Uninterrupted(TaskAttempts.ofEnded(context, job.jobIds.head, SpliceJob.WaitMs))
            val files = attempts.map(attempt => work.fileOf(tasks(attempt.index), attempt.id))
            NewFiles.remove(files.filterNot(file => taken(file.getName)), conf)
          }
        }
      }
    }
}

private object SpliceJob {
  private val Description = "spark.job.description"

  /** How long an aborted job waits for its tasks to end: tasks that are killed remove their files themselves. */
  private val WaitMs = 10000L
  private val sameThread: ExecutionContext = ExecutionContext.fromExecutor(_.run())
}

/**
 * What all tasks of a job share.
 *
 * @param job part of the names of all its files
 */
private final case class SpliceWork(
    job: UUID,
    conf: SerializableConfiguration,
    settings: SpliceSettings,
    schema: SchemaBytes,
    keyValues: Map[String, String],
    isReadable: FileFacts => Option[String],
    statsOf: Option[ParquetMetadata => String],
    spotCheck: Option[SpotCheck],
    write: Boolean
) {

  def run(task: SpliceTask): SpliceTaskResult =
    try {
      if (write) {
        // Inputs on which the others depend are checked first. Otherwise each run would write a file for nothing.
        val known = task.split.pivots.flatMap(input => preview(task, Seq(input)).refused)
        splice(task, known.toMap)
      } else preview(task, task.inputs.indices)
    } catch {
      case unread: UnreadableInput if task.split.mayStay && isDamaged(task, unread) =>
        val refused = task.inputs.indices.map(_ -> Refusal(unread.getMessage, isDamaged = true)).toMap
        SpliceTaskResult(task.index, refused, None, None)
    }

  private def isDamaged(task: SpliceTask, unread: UnreadableInput): Boolean =
    task.inputs.exists(inputFile(_).toString == unread.file) && InputFailures.damageOf(unread).nonEmpty

  private def preview(task: SpliceTask, inputs: Seq[Int]): SpliceTaskResult =
    resultOf(task, inputs, splicerOf(task, inputs).preview())

  private def splicerOf(task: SpliceTask, inputs: Seq[Int]): FileSplicer = {
    val request = SpliceRequest(
      inputs.map(input => inputRows(task.inputs(input))),
      schema.schema,
      keyValues,
      isReadable,
      task.constants
    )
    new FileSplicer(request, settings, conf.value)
  }

  /** The result without a file. */
  private def resultOf(task: SpliceTask, inputs: Seq[Int], outcome: SpliceOutcome): SpliceTaskResult = {
    def inTask(refused: Map[Int, Refusal]) = refused.map { case (at, refusal) => inputs(at) -> refusal }
    outcome match {
      case SpliceOutcome.Refused(refused) => SpliceTaskResult(task.index, inTask(refused), None, None)
      case done: SpliceOutcome.Done =>
        val refused = inTask(done.refused)
        val isWorthIt = refused.isEmpty || task.split.isWorthIt(inputs.filterNot(refused.contains))
        SpliceTaskResult(task.index, refused, Some(done).filter(_ => isWorthIt), None)
    }
  }

  /**
   * Splices the inputs that are not refused. If the pages of one cannot be spliced, starts again without it. After a
   * few starts it refuses the rest, because they are probably alike.
   */
  @tailrec
  private def splice(task: SpliceTask, refused: Map[Int, Refusal], starts: Int = 1): SpliceTaskResult = {
    val rest = task.inputs.indices.filterNot(refused.contains)
    if (refused.nonEmpty && !task.split.isWorthIt(rest)) SpliceTaskResult(task.index, refused, None, None)
    else {
      val result = writeFile(task, rest)
      val all = refused ++ result.refused
      if (result.done.nonEmpty) result.copy(refused = all)
      else if (starts < SpliceWork.MostStarts) splice(task, all, starts + 1)
      else SpliceTaskResult(task.index, all ++ alike(rest.filterNot(all.contains), result), None, None)
    }
  }

  private def alike(inputs: Seq[Int], result: SpliceTaskResult): Map[Int, Refusal] = {
    val (_, last) = result.refused.maxBy(_._1)
    inputs.map(_ -> Refusal(s"other files of its bin were refused: ${last.reason}")).toMap
  }

  /**
   * The file of an attempt at a task. Each has its own, so a retry or a speculative copy never finds another
   * attempt's file.
   */
  def fileOf(task: SpliceTask, attempt: Long): Path = {
    val codec = settings.codec.getExtension
    new Path(task.directory, f"part-${task.index}%05d-$job-t$attempt-c000$codec.parquet")
  }

  private def writeFile(task: SpliceTask, inputs: Seq[Int]): SpliceTaskResult = {
    val file = fileOf(task, TaskContext.get().taskAttemptId())
    val fileSystem = file.getFileSystem(conf.value)
    var kept = false
    try {
      var stats = Option.empty[String]
      val outcome = splicerOf(task, inputs).run(
        OutputFiles.of(file, conf.value),
        footer => stats = statsOf.map(_(footer))
      )
      val result = resultOf(task, inputs, outcome)
      val written = result.done.filter(_.rows > 0).map { done =>
        val status = fileSystem.getFileStatus(file)
        val read = remaining(task, inputs, result).map(_.size).sum
        JobProgress.count(read, status.getLen, done.rows)
        SplicedFile(file.getName, status.getLen, status.getModificationTime, stats)
      }
      val finding = for {
        check <- spotCheck
        done <- result.done
        spliced <- written
        found <- check.findingIn(asInput(file, spliced), remaining(task, inputs, result), done, conf.value)
      } yield found
      TaskAttempts.stopIfKilled(TaskContext.get())
      kept = written.nonEmpty
      result.copy(file = written, finding = finding)
    } finally if (!kept) { fileSystem.delete(file, false); () }
  }

  private def asInput(file: Path, spliced: SplicedFile): SpliceInput =
    SpliceInput(file.toUri.toString, spliced.size, spliced.modificationTime)

  private def remaining(
      task: SpliceTask,
      inputs: Seq[Int],
      result: SpliceTaskResult
  ): IndexedSeq[SpliceInput] =
    inputs.iterator.filterNot(result.refused.contains).map(task.inputs(_)).toIndexedSeq

  private def inputRows(input: SpliceInput): InputRows = InputRows(
    inputFile(input),
    input.deletedRows.map(deleted => () => deleted.read(conf.value)),
    input.deletedRows.fold(0L)(_.bytes),
    input.fills
  )

  private def inputFile(input: SpliceInput): HadoopInput = {
    val readPolicy =
      if (write && input.size <= settings.heldFileBytes)
        HadoopInput.WholeFile
      else HadoopInput.RandomAccess
    new HadoopInput(input, readPolicy, conf.value)
  }
}

private object SpliceWork {

  /** How often a bin is started: each start but the last wastes what it has read and written. */
  val MostStarts = 4
}
