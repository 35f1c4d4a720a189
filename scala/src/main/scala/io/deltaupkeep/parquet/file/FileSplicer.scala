package io.deltaupkeep.parquet.file

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.bytes.{TooLarge, UnreadableInput}
import io.deltaupkeep.parquet.chunk.ChunkCopier
import io.deltaupkeep.parquet.footer.{
  FileOpener,
  FooterCount,
  FooterTotals,
  OpenFile,
  RowGroup,
  SplicedTotals
}

import org.apache.parquet.column.{ColumnDescriptor, ParquetProperties}
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.io.{InputFile, OutputFile}
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
    inputs: Seq[InputFile],
    table: MessageType,
    keyValues: Map[String, String],
    isReadable: Map[String, String] => Option[String]
)

/**
 * Merges Parquet files into one without decoding rows.
 *
 * @param conf settings of the codecs
 */
final class FileSplicer(request: SpliceRequest, settings: SpliceSettings, conf: Configuration) {

  private val planner = new SplicePlanner(request.table, settings, request.isReadable)
  private val tallies = mutable.Map.empty[ChunkTier, TierTally]
  private var reason = Option.empty[(ChunkTier, String)]
  private var rows = 0L
  private var groupsBefore = 0
  private var groupsAfter = 0
  private val inputs = new FooterCount

  /** What [[run]] would do, from the footers alone. */
  def preview(): SpliceOutcome = refusing {
    val opener = new FileOpener(settings.heldFileBytes)
    val refusal = request.inputs.iterator
      .map { file =>
        UnreadableInput.naming(file.toString) {
          opener.peek(file).flatMap(opened => planner.add(opened).map(count(opened, _)))
        }
      }
      .collectFirst { case Left(why) => why }
    refusal.toLeft {
      planner.finish().foreach(group => count(group, planner.chunksOf(group)))
      None
    }
  }

  /**
   * Writes the output, which must not exist. Where the splice is refused or fails, what was written of it is
   * for the caller to delete.
   *
   * @throws io.deltaupkeep.parquet.bytes.UnreadableInput when an input cannot be read
   */
  def run(output: => OutputFile): SpliceOutcome = refusing {
    val writer = new OutputWriter(output)
    val files = new FileQueue(request.inputs, settings)
    val columns = new ColumnWorkers(settings, conf)
    var complete = false
    try {
      val written = spliceAll(files, columns, writer).toLeft(writer.end())
      complete = written.isRight
      written
    } finally {
      columns.close()
      files.close()
      if (!complete) writer.abort()
    }
  }

  /** The outcome of work that says what it wrote or why it is refused, before it looks at a page or after. */
  private def refusing(work: => Either[String, Option[FooterTotals]]): SpliceOutcome = {
    val end =
      try work
      catch {
        case unreadable: UnreadableInput if unreadable.refusal.nonEmpty => unreadable.refusal.toLeft(None)
      }
    end.fold(SpliceOutcome.Refused, done)
  }

  private def spliceAll(files: FileQueue, columns: ColumnWorkers, writer: OutputWriter): Option[String] = {
    // While the columns of one row group are spliced, the files of the next are fetched.
    val work = new RowGroupWork(files, columns, writer)
    var inWork = Option.empty[work.Started]
    def finishWork(): Unit = {
      inWork.foreach(work.finish)
      inWork = None
    }
    // The next row group is begun before this one is written, so that no thread waits for its longest column.
    def splice(group: PlannedRowGroup): Unit = {
      val next = work.start(group)
      finishWork()
      inWork = Some(next)
    }
    var refusal = Option.empty[String]
    while (refusal.isEmpty && files.hasNext) {
      // What is in work and what waits must not keep the next file from being fetched.
      if (files.isFull) finishWork()
      if (files.isFull) planner.finish().foreach(splice)
      if (files.isFull) finishWork()
      files.next().flatMap(file => plan(file).map(planned => (file, planned))) match {
        case Left(why) => refusal = Some(why)
        case Right((file, planned)) =>
          inputs.add(file)
          groupsBefore += file.rowGroups.size
          if (file.rowGroups.isEmpty) files.release(file)
          planned.foreach(splice)
      }
    }
    if (refusal.isEmpty) planner.finish().foreach(splice)
    if (refusal.isEmpty) finishWork()
    refusal
  }

  private def plan(file: OpenFile): Either[String, Seq[PlannedRowGroup]] =
    UnreadableInput.naming(file.name)(planner.add(file))

  /** Makes row groups of the output. */
  private final class RowGroupWork(files: FileQueue, columns: ColumnWorkers, writer: OutputWriter) {

    final class Started(
        val group: PlannedRowGroup,
        val chunks: IndexedSeq[PlannedChunk],
        val pending: ColumnWorkers.Pending
    )

    /** Hands the columns of a row group to the workers. */
    def start(group: PlannedRowGroup): Started = {
      val chunks = planner.chunksOf(group)
      new Started(group, chunks, columns.submitAll(chunks.filterNot(_.tier == ChunkTier.Copy)))
    }

    /** Writes a row group; or two, if it takes more than expected: values that no dictionary holds any more. */
    def finish(started: Started): Unit = started.pending.result() match {
      case Some(done) => write(started, done.iterator)
      case None if started.group.isAlone => refuse(started.group.parts.head)
      case None =>
        val (first, second) = started.group.halves
        finish(start(first))
        finish(start(second))
    }

    private def refuse(part: RowGroup): Unit = UnreadableInput.naming(part.file.name) {
      throw new TooLarge("a row group takes more when its pages are made anew", settings.heldRowGroupBytes)
    }

    private def write(started: Started, done: Iterator[ColumnWorkers.Done]): Unit = {
      val to = writer.startRowGroup(planner.output, started.group.rows)
      started.chunks.foreach { chunk =>
        if (chunk.tier == ChunkTier.Copy) copy(chunk.column, chunk.parts.head, to)
        else writeChunk(done.next(), chunk, to)
      }
      to.endBlock()
      count(started.group, started.chunks)
      started.group.parts.foreach(part => files.release(part))
    }
  }

  private def copy(column: ColumnDescriptor, part: ChunkPart, to: ParquetFileWriter): Unit =
    part.source match {
      case ColumnSource.Present(index, _, _, _) =>
        val started = System.nanoTime()
        val file = part.rowGroup.file
        ChunkCopier.copy(
          column,
          file.name,
          file.writtenBy,
          file.bytes,
          part.rowGroup.chunkToCopy(index),
          to
        )
        tally(ChunkTier.Copy, TierTally(part.compressedBytes, System.nanoTime() - started))
      case _ => throw new IllegalStateException("Only a column that is there can be copied")
    }

  private def writeChunk(done: ColumnWorkers.Done, chunk: PlannedChunk, to: ParquetFileWriter): Unit = {
    val started = System.nanoTime()
    done.chunk.write(to)
    tally(chunk.tier, TierTally(chunk.compressedBytes, done.nanos + System.nanoTime() - started))
  }

  private def tally(tier: ChunkTier, work: TierTally): Unit =
    tallies(tier) = tallies.getOrElse(tier, TierTally(0, 0)) + work

  private def count(file: OpenFile, planned: Seq[PlannedRowGroup]): Unit = {
    groupsBefore += file.rowGroups.size
    planned.foreach(group => count(group, planner.chunksOf(group)))
  }

  private def count(group: PlannedRowGroup, chunks: IndexedSeq[PlannedChunk]): Unit = {
    rows += group.rows
    groupsAfter += 1
    reason = strongest(reason, planner.reasonOf(group, chunks))
  }

  private def strongest(
      a: Option[(ChunkTier, String)],
      b: Option[(ChunkTier, String)]
  ): Option[(ChunkTier, String)] =
    if (a.exists(_._1 == ChunkTier.Transcode) || b.isEmpty) a
    else if (a.isEmpty || b.exists(_._1 == ChunkTier.Transcode)) b
    else a

  private def done(written: Option[FooterTotals]): SpliceOutcome = {
    val (tier, why) = reason.getOrElse(ChunkTier.Copy -> "row groups are large enough to be copied")
    val totals = written.map(SplicedTotals(inputs.result, _))
    SpliceOutcome.Done(rows, groupsBefore, groupsAfter, tier, why, tallies.toMap, totals)
  }

  /** The output, which is opened with the first row group: a bin without rows has none. */
  private final class OutputWriter(output: => OutputFile) {
    private var writer = Option.empty[ParquetFileWriter]

    def startRowGroup(schema: MessageType, rows: Long): ParquetFileWriter = {
      if (writer.isEmpty) writer = Some(open(schema))
      writer.foreach(_.startBlock(rows))
      writer.get
    }

    /** What the footer says that was written. */
    def end(): Option[FooterTotals] = writer.map { open =>
      open.end(request.keyValues.asJava)
      FooterTotals.written(open.getFooter)
    }

    def abort(): Unit = writer.foreach { open =>
      open.abort()
      open.close()
    }

    private def open(schema: MessageType): ParquetFileWriter = {
      val opened = new ParquetFileWriter(
        output,
        schema,
        ParquetFileWriter.Mode.CREATE,
        settings.rowGroupBytes,
        settings.maxPadding,
        null,
        ParquetProperties.builder().build()
      )
      opened.start()
      opened
    }
  }
}
