package org.apache.spark.sql.delta.upkeep.splice

import java.util.UUID
import java.util.concurrent.LinkedBlockingQueue

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.ExecutionContext
import scala.util.{Failure, Success, Try}

import io.deltaupkeep.{ClosableIterator, Uninterrupted, UnreadableInput}
import io.deltaupkeep.parquet.file.{FileSplicer, Refusal, SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.{FileFacts, Fill, InputRows, LeafTotals, RowSelection, SchemaBytes}
import io.deltaupkeep.parquet.gather.{FileGatherer, GatherOrder, GatheredFile}
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
 * @param order     of the rows in the new files; None to keep theirs, in one file
 */
final case class SpliceTask(
    index: Int,
    inputs: Seq[SpliceInput],
    directory: String,
    split: BinSplit,
    constants: Map[String, Option[Array[Byte]]] = Map.empty,
    order: Option[GatherOrder] = None
) {
  def outputs: Int = order.fold(1)(_.outputs)
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
 */
final case class SplicedFile(
    name: String,
    rows: Long,
    size: Long,
    modificationTime: Long,
    stats: Option[String],
    leaves: Map[Seq[String], LeafTotals]
)

/**
 * The result of a task. It has one file, or several if rows were put in another order. There is none if nothing is spliced, if the bin has no rows, and in a preview.
 *
 * @param refused inputs that cannot be spliced, by their positions
 * @param done    what became of the others, if they are worth splicing without those
 * @param finding what is wrong with a file
 */
final case class SpliceTaskResult(
    index: Int,
    refused: Map[Int, Refusal],
    done: Option[SpliceOutcome.Done],
    files: Seq[SplicedFile],
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
          taken ++= result.files.map(_.name)
          result
        }
        override def close(): Unit = if (left > 0) {
          job.cancel()
          if (write) {
            val attempts = Uninterrupted(TaskAttempts.ofEnded(context, job.jobIds.head, SpliceJob.WaitMs))
            val files = attempts.flatMap(attempt => work.filesOf(tasks(attempt.index), attempt.id))
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
      if (task.order.nonEmpty) if (write) gather(task) else previewGathering(task)
      else if (write) {
        // Inputs on which the others depend are checked first. Otherwise each run would write a file for nothing.
        val known = task.split.pivots.flatMap(input => preview(task, Seq(input)).refused)
        splice(task, known.toMap)
      } else preview(task, task.inputs.indices)
    } catch {
      case unread: UnreadableInput if task.split.mayStay && isDamaged(task, unread) =>
        val refused = task.inputs.indices.map(_ -> Refusal(unread.getMessage, isDamaged = true)).toMap
        SpliceTaskResult(task.index, refused, None, Nil)
    }

  private def isDamaged(task: SpliceTask, unread: UnreadableInput): Boolean =
    task.inputs.exists(inputFile(_).toString == unread.file) && InputFailures.damageOf(unread).nonEmpty

  private def preview(task: SpliceTask, inputs: Seq[Int]): SpliceTaskResult =
    resultOf(task, inputs, splicerOf(task, inputs).preview())

  private def splicerOf(task: SpliceTask, inputs: Seq[Int]): FileSplicer =
    new FileSplicer(requestOf(task, inputs), settings, conf.value)

  private def requestOf(task: SpliceTask, inputs: Seq[Int]): SpliceRequest = SpliceRequest(
    inputs.map(input => inputRows(task.inputs(input))),
    schema.schema,
    keyValues,
    isReadable,
    task.constants
  )

  /** The result without a file. */
  private def resultOf(task: SpliceTask, inputs: Seq[Int], outcome: SpliceOutcome): SpliceTaskResult = {
    def inTask(refused: Map[Int, Refusal]) = refused.map { case (at, refusal) => inputs(at) -> refusal }
    outcome match {
      case SpliceOutcome.Refused(refused) => SpliceTaskResult(task.index, inTask(refused), None, Nil)
      case done: SpliceOutcome.Done =>
        val refused = inTask(done.refused)
        val isWorthIt = refused.isEmpty || task.split.isWorthIt(inputs.filterNot(refused.contains))
        SpliceTaskResult(task.index, refused, Some(done).filter(_ => isWorthIt), Nil)
    }
  }

  /**
   * Splices the inputs that are not refused. If the pages of one cannot be spliced, starts again without it. After a
   * few starts it refuses the rest, because they are probably alike.
   */
  @tailrec
  private def splice(task: SpliceTask, refused: Map[Int, Refusal], starts: Int = 1): SpliceTaskResult = {
    val rest = task.inputs.indices.filterNot(refused.contains)
    if (refused.nonEmpty && !task.split.isWorthIt(rest)) SpliceTaskResult(task.index, refused, None, Nil)
    else {
      val result = writeFile(task, rest)
      val all = refused ++ result.refused
      if (result.done.nonEmpty) result.copy(refused = all)
      else if (starts < SpliceWork.MostStarts) splice(task, all, starts + 1)
      else SpliceTaskResult(task.index, all ++ alike(rest.filterNot(all.contains), result), None, Nil)
    }
  }

  private def alike(inputs: Seq[Int], result: SpliceTaskResult): Map[Int, Refusal] = {
    val (_, last) = result.refused.maxBy(_._1)
    inputs.map(_ -> Refusal(s"other files of its bin were refused: ${last.reason}")).toMap
  }

  /**
   * The files of an attempt at a task. Each has its own, so a retry or a speculative copy never finds another
   * attempt's file.
   */
  def filesOf(task: SpliceTask, attempt: Long): IndexedSeq[Path] = (0 until task.outputs).map { output =>
    val codec = settings.codec.getExtension
    new Path(task.directory, f"part-${task.index}%05d-$job-t$attempt-c$output%03d$codec.parquet")
  }

  private def gathererOf(task: SpliceTask, order: GatherOrder): FileGatherer =
    new FileGatherer(requestOf(task, task.inputs.indices), order, settings, conf.value)

  private def previewGathering(task: SpliceTask): SpliceTaskResult =
    gathered(task, gathererOf(task, task.order.get).preview(), Nil)

  /** If an input is refused, so are the others: their rows have to be ordered together. */
  private def gathered(task: SpliceTask, outcome: SpliceOutcome, files: Seq[SplicedFile]): SpliceTaskResult =
    outcome match {
      case refused: SpliceOutcome.Refused =>
        val reason = refused.inputs.head._2.copy(isDamaged = false)
        SpliceTaskResult(task.index, task.inputs.indices.map(_ -> reason).toMap, None, Nil)
      case done: SpliceOutcome.Done => SpliceTaskResult(task.index, Map.empty, Some(done), files)
    }

  private def gather(task: SpliceTask): SpliceTaskResult = {
    val context = TaskContext.get()
    val paths = filesOf(task, context.taskAttemptId())
    val fileSystem = paths.head.getFileSystem(conf.value)
    var kept = false
    try {
      val written = mutable.ArrayBuffer.empty[(GatheredFile, SplicedFile)]
      val outcome = gathererOf(task, task.order.get).run(
        index => OutputFiles.of(paths(index), conf.value),
        file => {
          val status = fileSystem.getFileStatus(paths(file.index))
          val stats = statsOf.map(_(file.footer))
          val spliced = SplicedFile(
            paths(file.index).getName,
            file.rows,
            status.getLen,
            status.getModificationTime,
            stats,
            file.leaves
          )
          written += file -> spliced
        },
        () => TaskAttempts.stopIfKilled(context)
      )
      val result = gathered(task, outcome, written.map(_._2).toVector)
      if (result.done.nonEmpty)
        JobProgress.count(
          task.inputs.map(_.size).sum,
          written.map(_._2.size).sum,
          written.map(_._2.rows).sum
        )
      val samples = written.toVector.map { case (file, spliced) =>
        asInput(paths(file.index), spliced) -> file.sample
      }
      val found = spotCheck.flatMap(_.findingIn(samples, task.inputs.toIndexedSeq, conf.value))
      TaskAttempts.stopIfKilled(context)
      kept = result.done.nonEmpty
      result.copy(finding = found)
    } finally if (!kept) NewFiles.remove(paths, conf.value)
  }

  private def writeFile(task: SpliceTask, inputs: Seq[Int]): SpliceTaskResult = {
    val file = filesOf(task, TaskContext.get().taskAttemptId()).head
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
        val leaves = done.totals.fold(Map.empty[Seq[String], LeafTotals])(_.output.leaves)
        SplicedFile(file.getName, done.rows, status.getLen, status.getModificationTime, stats, leaves)
      }
      val finding = for {
        check <- spotCheck
        done <- result.done
        spliced <- written
        found <- check.findingIn(asInput(file, spliced), remaining(task, inputs, result), done, conf.value)
      } yield found
      TaskAttempts.stopIfKilled(TaskContext.get())
      kept = written.nonEmpty
      result.copy(files = written.toSeq, finding = finding)
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
