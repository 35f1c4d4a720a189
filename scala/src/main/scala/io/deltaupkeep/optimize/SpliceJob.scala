package io.deltaupkeep.optimize

import java.util.UUID
import java.util.concurrent.LinkedBlockingQueue

import scala.collection.mutable
import scala.concurrent.ExecutionContext
import scala.util.{Failure, Success, Try}

import io.deltaupkeep.parquet.file.{FileSplicer, SpliceOutcome, SpliceRequest, SpliceSettings}
import io.deltaupkeep.parquet.footer.{Fill, InputRows, RowSelection, SchemaBytes}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.schema.MessageType

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.delta.upkeep.spark.{JobProgress, TaskAttempts}
import org.apache.spark.util.SerializableConfiguration

/**
 * What a task splices.
 *
 * @param index     of the bin in the job
 * @param inputs    in the order that their rows keep
 * @param directory where the new file goes
 */
final case class SpliceTask(index: Int, inputs: Seq[SpliceInput], directory: String)

/**
 * An input by its absolute URI; size in bytes, time in milliseconds since the epoch.
 *
 * @param fills by column, what stands where the file has no value
 */
final case class SpliceInput(
    uri: String,
    size: Long,
    modificationTime: Long,
    deletedRows: Option[DeletedRows] = None,
    fills: Map[String, Fill] = Map.empty
)

/** Which rows of a file are deleted; a task reads it. */
trait DeletedRows extends Serializable {

  /** Of memory that it takes at most. */
  def bytes: Long

  def read(conf: Configuration): RowSelection
}

/**
 * The file that a task wrote.
 *
 * @param stats of its footer, as JSON for the log, if they are collected
 */
final case class SplicedFile(name: String, size: Long, modificationTime: Long, stats: Option[String])

/**
 * The result of a task. There is no file if the splice was refused, if the bin has no rows, and in a preview.
 */
final case class SpliceTaskResult(index: Int, outcome: SpliceOutcome, file: Option[SplicedFile])

/**
 * One Spark job that splices all bins of an OPTIMIZE, in one task each, in the given order.
 *
 * @param description shown for the job on the console and in the UI
 * @param conf       settings to access the files
 * @param schema     of the table's data columns
 * @param keyValues  metadata of new files
 * @param isReadable whether the metadata of a file allows its pages to be used unchanged; otherwise the
 *                   reason
 * @param statsOf    makes the statistics of a new file from its footer, if they are collected
 */
final class SpliceJob(
    context: SparkContext,
    description: String,
    conf: Configuration,
    settings: SpliceSettings,
    schema: MessageType,
    keyValues: Map[String, String],
    isReadable: Map[String, String] => Option[String],
    statsOf: Option[ParquetMetadata => String]
) {

  /** What each task would do, from the footers alone. */
  def preview(tasks: Seq[SpliceTask]): Seq[SpliceTaskResult] = run(tasks, write = false).toSeq

  /**
   * Runs the job and returns results as they arrive. Throws if a task has failed in all its attempts. Closed before
   * the last result was taken, it removes the files of all others.
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
            val attempts = TaskAttempts.ofEnded(context, job.jobIds.head, SpliceJob.WaitMs)
            val files = attempts.map(attempt => work.fileOf(tasks(attempt.index), attempt.id))
            NewFiles.remove(files.filterNot(file => taken(file.getName)), conf)
          }
        }
      }
    }
}

private object SpliceJob {
  private val Description = "spark.job.description"

  /** How long the end of an aborted job waits for its tasks: they remove their files themselves if they are told. */
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
    isReadable: Map[String, String] => Option[String],
    statsOf: Option[ParquetMetadata => String],
    write: Boolean
) {

  def run(task: SpliceTask): SpliceTaskResult = {
    val request = SpliceRequest(
      task.inputs.map(inputRows),
      schema.schema,
      keyValues,
      isReadable
    )
    val splicer = new FileSplicer(request, settings, conf.value)
    if (write) splice(task, splicer) else SpliceTaskResult(task.index, splicer.preview(), None)
  }

  /**
   * The file of an attempt at a task. Each has its own, so a retry or a speculative copy never finds another
   * attempt's file.
   */
  def fileOf(task: SpliceTask, attempt: Long): Path = {
    val codec = settings.codec.getExtension
    new Path(task.directory, f"part-${task.index}%05d-$job-t$attempt-c000$codec.parquet")
  }

  private def splice(task: SpliceTask, splicer: FileSplicer): SpliceTaskResult = {
    val file = fileOf(task, TaskContext.get().taskAttemptId())
    val fileSystem = file.getFileSystem(conf.value)
    var kept = false
    try {
      var stats = Option.empty[String]
      val outcome = splicer.run(
        HadoopOutputFile.fromPath(file, conf.value),
        footer => stats = statsOf.map(_(footer))
      )
      val written = outcome match {
        case done: SpliceOutcome.Done if done.rows > 0 =>
          val status = fileSystem.getFileStatus(file)
          JobProgress.count(task.inputs.map(_.size).sum, status.getLen, done.rows)
          Some(SplicedFile(file.getName, status.getLen, status.getModificationTime, stats))
        case _ => None
      }
      TaskAttempts.stopIfKilled(TaskContext.get())
      kept = written.nonEmpty
      SpliceTaskResult(task.index, outcome, written)
    } finally if (!kept) { fileSystem.delete(file, false); () }
  }

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
