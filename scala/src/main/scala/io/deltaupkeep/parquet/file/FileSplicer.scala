package io.deltaupkeep.parquet.file

import scala.annotation.tailrec

import io.deltaupkeep.parquet.bytes.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileOpener, FooterTotals, InputRows}

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

import org.apache.hadoop.conf.Configuration

/**
 * One bin: the files that become one, and how.
 *
 * @param inputs     in the order that their rows keep
 * @param table      schema of the table's data columns, as its own writer would store them
 * @param keyValues  metadata of the new file
 * @param isReadable whether a file's key-value metadata allow its pages to be taken as they are; else the reason
 */
final case class SpliceRequest(
    inputs: Seq[InputRows],
    table: MessageType,
    keyValues: Map[String, String],
    isReadable: Map[String, String] => Option[String]
)

/**
 * Merges Parquet files into one without decoding rows. Files are fetched ahead, row groups of the output are planned
 * from their footers, and a [[RowGroupPipeline]] takes those to the output.
 *
 * @param conf settings of the codecs
 */
final class FileSplicer(request: SpliceRequest, settings: SpliceSettings, conf: Configuration) {

  private val planner = new SplicePlanner(request.table, settings, request.isReadable)
  private val summary = new SpliceSummary

  /** What [[run]] would do, from the footers alone. */
  def preview(): SpliceOutcome = refusing {
    val opener = new FileOpener(settings.heldFileBytes)
    val refusal = request.inputs.iterator
      .map(input => UnreadableInput.naming(input.name)(preview(input, opener)))
      .collectFirst { case Left(why) => why }
    refusal.toLeft {
      planner.finish().foreach(preview)
      None
    }
  }

  private def preview(input: InputRows, opener: FileOpener): Either[String, Unit] =
    for {
      opened <- opener.peek(input)
      planned <- planner.add(opened)
    } yield {
      summary.addInput(opened)
      planned.foreach(preview)
    }

  private def preview(group: PlannedRowGroup): Unit =
    summary.addRowGroup(group, planner.reasonOf(group, planner.chunksOf(group)))

  /**
   * Writes the output, which must not exist. Where the splice is refused or fails, what was written of it is
   * for the caller to delete.
   *
   * @param written is told the footer
   * @throws io.deltaupkeep.parquet.bytes.UnreadableInput when an input cannot be read
   */
  def run(output: => OutputFile, written: ParquetMetadata => Unit = _ => ()): SpliceOutcome = refusing {
    val writer = new OutputWriter(output, request.keyValues, settings)
    val files = new FileQueue(request.inputs, settings)
    val columns = new ColumnWorkers(settings, conf)
    val pipeline =
      new RowGroupPipeline(planner, files, columns, writer, summary, settings.heldRowGroupBytes)
    try spliceAll(files, pipeline).toLeft {
        val footer = writer.end()
        footer.foreach(written)
        footer.map(FooterTotals.written)
      }
    finally {
      columns.close()
      files.close()
    }
  }

  /** The outcome of work that says what it wrote or why it is refused, before it looks at a page or after. */
  private def refusing(work: => Either[String, Option[FooterTotals]]): SpliceOutcome = {
    val end =
      try work
      catch {
        case unreadable: UnreadableInput if unreadable.refusal.nonEmpty => unreadable.refusal.toLeft(None)
      }
    end.fold(SpliceOutcome.Refused, summary.outcome)
  }

  /** Why the bin is refused; none when all of it is written. */
  @tailrec
  private def spliceAll(files: FileQueue, pipeline: RowGroupPipeline): Option[String] =
    if (files.hasNext) {
      makeRoom(files, pipeline)
      planNext(files) match {
        case Left(why) => Some(why)
        case Right(planned) =>
          planned.foreach(pipeline.add)
          spliceAll(files, pipeline)
      }
    } else {
      planner.finish().foreach(pipeline.add)
      pipeline.finish()
      None
    }

  /** What is in work and what waits for more row groups must not keep the next file from being fetched. */
  private def makeRoom(files: FileQueue, pipeline: RowGroupPipeline): Unit = {
    if (files.isFull) pipeline.finish()
    if (files.isFull) planner.finish().foreach(pipeline.add)
    if (files.isFull) pipeline.finish()
  }

  /** The row groups that are complete with the next file, or why the bin is refused. */
  private def planNext(files: FileQueue): Either[String, Seq[PlannedRowGroup]] =
    for {
      file <- files.next()
      planned <- UnreadableInput.naming(file.name)(planner.add(file))
    } yield {
      summary.addInput(file)
      if (file.rowGroups.isEmpty) files.release(file)
      planned
    }
}
