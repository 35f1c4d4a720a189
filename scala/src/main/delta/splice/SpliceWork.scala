package org.apache.spark.sql.delta.upkeep.splice

import java.util.UUID

import scala.annotation.tailrec
import scala.collection.mutable

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.file.{FileSplicer, Refusal, SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.{FileFacts, InputRows, LeafTotals, SchemaBytes}
import io.deltaupkeep.parquet.gather.{
  Division,
  FileGatherer,
  FilePart,
  GatherOrder,
  GatheredFile,
  RowMarks,
  SampledRow,
  SortedRows
}
import io.deltaupkeep.parquet.plan.SpliceSettings
import io.deltaupkeep.store.{NewFiles, OutputFiles}

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.metadata.ParquetMetadata

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.upkeep.spark.{JobProgress, TaskAttempts}
import org.apache.spark.sql.delta.upkeep.table.InputFailures
import org.apache.spark.util.SerializableConfiguration

/**
 * What all tasks of a job share.
 *
 * @param job part of the names of all its files
 */
private[splice] final case class SpliceWork(
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

  private def requestOf(task: SpliceTask, inputs: Seq[Int]): SpliceRequest =
    request(task, inputs.map(input => inputRows(task.inputs(input))))

  private def request(task: SpliceTask, inputs: Seq[InputRows]): SpliceRequest =
    SpliceRequest(inputs, schema.schema, keyValues, isReadable, task.constants)

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
  def filesOf(task: SpliceTask, attempt: Long): IndexedSeq[Path] = filesOf(task, attempt, task.outputs)

  /** @param outputs most of the files that it may have */
  def filesOf(task: SpliceTask, attempt: Long, outputs: Int): IndexedSeq[Path] =
    (0 until outputs).map { output =>
      val codec = settings.codec.getExtension
      new Path(task.directory, f"part-${task.index}%05d-$job-t$attempt-c$output%03d$codec.parquet")
    }

  def gathererOf(
      task: SpliceTask,
      inputs: Seq[InputRows],
      settings: SpliceSettings = settings
  ): FileGatherer =
    new FileGatherer(request(task, inputs), orderOf(task).keys, settings, conf.value)

  def orderOf(task: SpliceTask): GatherOrder =
    task.order.getOrElse(throw new IllegalStateException("A task without an order"))

  @tailrec
  private def previewGathering(task: SpliceTask): SpliceTaskResult = {
    val outcome = task.parts.tail.foldLeft(previewGathering(task, task.parts.head)) {
      case (done: SpliceOutcome.Done, part) =>
        previewGathering(task, part) match {
          case next: SpliceOutcome.Done => done.and(next)
          case refused => refused
        }
      case (refused, _) => refused
    }
    val finer = outcome match {
      case refused: SpliceOutcome.Refused => task.dividedFor(refused.inputs.head._2)
      case _: SpliceOutcome.Done => None
    }
    finer match {
      case Some(divided) => previewGathering(divided)
      case None => gathered(task, outcome, Nil)
    }
  }

  private def previewGathering(task: SpliceTask, part: Seq[FilePart]): SpliceOutcome =
    gathererOf(task, inputsOf(task, part)).preview(math.max(1, task.outputs / task.parts.size))

  def inputsOf(task: SpliceTask, part: Seq[FilePart]): Seq[InputRows] =
    part.map(of => inputRows(task.inputs(of.file)).copy(slice = of.slice))

  /** If an input is refused, so are the others: their rows have to be ordered together. */
  def gathered(task: SpliceTask, outcome: SpliceOutcome, files: Seq[SplicedFile]): SpliceTaskResult =
    outcome match {
      case refused: SpliceOutcome.Refused =>
        val reason = refused.inputs.head._2.copy(isDamaged = false)
        SpliceTaskResult(task.index, task.inputs.indices.map(_ -> reason).toMap, None, Nil)
      case done: SpliceOutcome.Done =>
        val told = done.copy(reason = Division.told(task.division))
        SpliceTaskResult(task.index, Map.empty, Some(told), files)
    }

  /** The same for the keys of a task alone, of which nothing is written. */
  def ofKeys(task: SpliceTask): SpliceWork = copy(
    // A struct that a file has without its keys need not be told from one that it lacks: a key is null in both.
    settings = settings.copy(lacking = settings.lacking.copy(nullStructs = false)),
    schema = SchemaBytes.of(orderOf(task).keysIn(schema.schema)),
    statsOf = None,
    spotCheck = None
  )

  /** @param fates of all inputs; none if nothing of them is marked */
  def marksOf(part: Seq[FilePart], fates: IndexedSeq[InputFate]): IndexedSeq[RowMarks] =
    if (fates.isEmpty) IndexedSeq.empty else part.map(of => fates(of.file).marks(conf.value)).toIndexedSeq

  /** Finds the rows that are gone by the fates of the inputs in the new files of [[run]]. */
  def late(task: SpliceTask, fates: IndexedSeq[InputFate]): Either[Refusal, Seq[MarkedFile]] = {
    val part = task.parts.head
    marked(task, gathererOf(task, inputsOf(task, part)), task.outputs, marksOf(part, fates), identity)
  }

  /**
   * Puts rows in order, to find where marked ones go.
   *
   * @param traced as for [[writeGathered]]
   */
  def marked(
      task: SpliceTask,
      gatherer: FileGatherer,
      files: Int,
      marks: IndexedSeq[RowMarks],
      traced: Long => Long
  ): Either[Refusal, Seq[MarkedFile]] = {
    val context = TaskContext.get()
    gatherer.follow(
      SortedRows(orderOf(task).order, files),
      marks,
      () => TaskAttempts.stopIfKilled(context)
    ) match {
      case Left(refused) => Left(refused.inputs.head._2)
      case Right(found) => Right(found.map(file => MarkedFile.of(file, traced(file.followed.fingerprint))))
    }
  }

  private def gather(task: SpliceTask): SpliceTaskResult = writeGathered(
    task,
    gathererOf(task, inputsOf(task, task.parts.head)),
    filesOf(task, TaskContext.get().taskAttemptId()),
    task.inputs.map(_.size).sum
  )

  /**
   * Writes files whose rows are in the order of the task, and checks some of them.
   *
   * @param bytesRead for Spark's metrics
   * @param wanted    rows to check, by the position of the gatherer's input and their own; None to draw some
   * @param origin    the same row as the task's inputs have it
   * @param traced    the fingerprint of the way of rows from the task's inputs to a file, from that of the gatherer
   */
  def writeGathered(
      task: SpliceTask,
      gatherer: FileGatherer,
      paths: IndexedSeq[Path],
      bytesRead: Long,
      wanted: Option[Seq[(Int, Long)]] = None,
      origin: SampledRow => Option[SampledRow] = Some(_),
      traced: Long => Long = identity
  ): SpliceTaskResult = {
    val context = TaskContext.get()
    val fileSystem = paths.head.getFileSystem(conf.value)
    var kept = false
    try {
      val written = mutable.ArrayBuffer.empty[(GatheredFile, SplicedFile)]
      val outcome = gatherer.run(
        SortedRows(orderOf(task).order, paths.size),
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
            file.leaves,
            Some(traced(file.followed.fingerprint))
          )
          written += file -> spliced
        },
        wanted,
        goOn = () => TaskAttempts.stopIfKilled(context)
      )
      val result = gathered(task, outcome, written.map(_._2).toVector)
      if (result.done.nonEmpty)
        JobProgress.count(bytesRead, written.map(_._2.size).sum, written.map(_._2.rows).sum)
      val samples = written.toVector.map { case (file, spliced) =>
        asInput(paths(file.index), spliced) -> file.followed.sample.flatMap(origin(_))
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

private[splice] object SpliceWork {

  /** How often a bin is started: each start but the last wastes what it has read and written. */
  val MostStarts = 4
}
