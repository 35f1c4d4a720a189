package io.deltaupkeep.parquet.file

import scala.collection.mutable

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileFacts, FileOpener, InputRows}
import io.deltaupkeep.parquet.plan.{PlannedRowGroup, SplicePlanner, SpliceSettings}

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

import org.apache.hadoop.conf.Configuration

/**
 * One bin: the files to merge into one, and how.
 *
 * @param inputs     in the order of their rows
 * @param table      schema of the table's data columns, as its own writer would store them
 * @param keyValues  metadata of the new file
 * @param isReadable None if the footer of a file allows its pages to be taken as they are; else the reason
 * @param constants  columns that have one value in all rows, whatever the files have: PLAIN, or None for null
 */
final case class SpliceRequest(
    inputs: Seq[InputRows],
    table: MessageType,
    keyValues: Map[String, String],
    isReadable: FileFacts => Option[String],
    constants: Map[String, Option[Array[Byte]]] = Map.empty
)

/**
 * Merges Parquet files into one without decoding rows. Files are fetched ahead, output row groups are planned from
 * their footers, and a `RowGroupPipeline` writes them.
 *
 * @param conf settings of the codecs
 */
final class FileSplicer(request: SpliceRequest, settings: SpliceSettings, conf: Configuration) {

  private val planner = new SplicePlanner(request.table, settings, request.isReadable, request.constants)
  private val summary = new SpliceSummary
  private val refused = mutable.Map.empty[Int, Refusal]

  /** What [[run]] would do, from the footers alone. */
  def preview(): SpliceOutcome = {
    val opener = new FileOpener(settings.heldFileBytes)
    request.inputs.zipWithIndex.foreach { case (input, index) =>
      Refusal.orElse(preview(input, opener)).left.foreach(refused(index) = _)
    }
    planner.finish().foreach(preview)
    outcome(Nil)
  }

  private def preview(input: InputRows, opener: FileOpener): Either[String, Unit] =
    UnreadableInput.naming(input.name) {
      for {
        opened <- opener.peek(input)
        planned <- planner.add(opened)
      } yield {
        summary.addInput(opened)
        planned.foreach(preview)
      }
    }

  private def preview(group: PlannedRowGroup): Unit =
    summary.addRowGroup(group, planner.reasonOf(group, planner.chunksOf(group)))

  /**
   * Writes the output, which must not exist, from all inputs whose footers allow it. If the pages of one do not, or
   * the splice fails, the caller has to delete what was written.
   *
   * @param written called with the footer
   * @throws io.deltaupkeep.UnreadableInput if an input cannot be read
   */
  def run(output: => OutputFile, written: ParquetMetadata => Unit = _ => ()): SpliceOutcome = {
    val writer = new OutputWriter(output, request.keyValues, settings)
    val files = new FileQueue(request.inputs, settings)
    val columns = new ColumnWorkers(settings, conf)
    val pipeline =
      new RowGroupPipeline(planner, files, columns, writer, summary, settings.heldRowGroupBytes)
    var ended = false
    try {
      spliceAll(files, pipeline)
      val footer = writer.end()
      ended = true
      footer.foreach(written)
      outcome(footer.toSeq)
    } catch {
      case unreadable @ Refusal.OfInput(refusal) =>
        val index = request.inputs.indexWhere(_.name == unreadable.file)
        if (index < 0) throw unreadable
        SpliceOutcome.Refused(refused.toMap.updated(index, refusal))
    } finally {
      if (!ended) writer.abandon()
      columns.close()
      files.close()
    }
  }

  private def outcome(footers: Seq[ParquetMetadata]): SpliceOutcome =
    if (refused.nonEmpty && refused.size == request.inputs.size) SpliceOutcome.Refused(refused.toMap)
    else summary.outcome(footers, refused.toMap)

  private def spliceAll(files: FileQueue, pipeline: RowGroupPipeline): Unit = {
    request.inputs.indices.foreach { index =>
      makeRoom(files, pipeline)
      planNext(files) match {
        case Left(refusal) => refused(index) = refusal
        case Right(planned) => planned.foreach(pipeline.add)
      }
    }
    planner.finish().foreach(pipeline.add)
    pipeline.finish()
  }

  /** Row groups in progress, or waiting for more, must not keep the next file from being fetched. */
  private def makeRoom(files: FileQueue, pipeline: RowGroupPipeline): Unit = {
    if (files.isFull) pipeline.finish()
    if (files.isFull) planner.finish().foreach(pipeline.add)
    if (files.isFull) pipeline.finish()
  }

  /** The row groups that the next file completes, or why it is refused. */
  private def planNext(files: FileQueue): Either[Refusal, Seq[PlannedRowGroup]] =
    files.next().flatMap { file =>
      val planned = Refusal.orElse(UnreadableInput.naming(file.name)(planner.add(file)))
      if (planned.isRight) summary.addInput(file)
      if (planned.isLeft || file.rowGroups.isEmpty) files.release(file)
      planned
    }
}
