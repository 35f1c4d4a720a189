package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.TooLarge
import io.deltaupkeep.parquet.footer.RowGroup
import io.deltaupkeep.parquet.merge.ChunkCopier
import io.deltaupkeep.parquet.plan.{
  ChunkPart,
  ChunkTier,
  ColumnSource,
  PlannedChunk,
  PlannedRowGroup,
  SplicePlanner
}

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.ParquetFileWriter

/**
 * Writes planned row groups to the output, in order. At most one is in progress: workers make its columns while the
 * files of the next one are fetched.
 *
 * @param heldBytes largest number of bytes that the pages of a row group take
 */
private[parquet] final class RowGroupPipeline(
    planner: SplicePlanner,
    files: FileQueue,
    columns: ColumnWorkers,
    output: OutputWriter,
    summary: SpliceSummary,
    heldBytes: Long
) {
  import RowGroupPipeline._

  private var state: State = State.Idle

  /** Starts a row group before writing the one in progress, so that no thread waits for the longest column. */
  def add(group: PlannedRowGroup): Unit = {
    val next = start(group)
    finish()
    state = next
  }

  /** Writes the row group in progress, and frees the files that no other one needs. */
  def finish(): Unit = {
    state match {
      case State.Idle => ()
      case started: State.InWork => finish(started)
    }
    state = State.Idle
  }

  /** Hands the columns of a row group to the workers. */
  private def start(group: PlannedRowGroup): State.InWork = {
    val chunks = planner.chunksOf(group)
    State.InWork(group, chunks, columns.submitAll(chunks.filterNot(_.tier == ChunkTier.Copy)))
  }

  /** Writes a row group, or two if it takes more than expected: its values may no longer fit a dictionary. */
  private def finish(started: State.InWork): Unit = started.pending.result() match {
    case Some(done) => write(started, done.iterator)
    case None if started.group.isAlone => refuse(started.group.parts.head)
    case None =>
      val (first, second) = started.group.halves
      finish(start(first))
      finish(start(second))
  }

  private def refuse(part: RowGroup): Unit = UnreadableInput.naming(part.file.name) {
    throw new TooLarge("a row group takes too much memory once its pages are encoded again", heldBytes)
  }

  private def write(started: State.InWork, done: Iterator[ColumnWorkers.Done]): Unit = {
    val to = output.startRowGroup(planner.output, started.group.rows)
    started.chunks.foreach { chunk =>
      if (chunk.tier == ChunkTier.Copy) copy(chunk.column, chunk.parts.head, to)
      else write(chunk, done.next(), to)
    }
    to.endBlock()
    summary.addRowGroup(started.group, planner.reasonOf(started.group, started.chunks))
    started.group.parts.foreach(part => files.release(part))
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
        summary.addFacts(column, None)
        summary.addWork(ChunkTier.Copy, TierTally(part.compressedBytes, System.nanoTime() - started))
      case _ => throw new IllegalStateException("Only a column that is there can be copied")
    }

  private def write(chunk: PlannedChunk, done: ColumnWorkers.Done, to: ParquetFileWriter): Unit = {
    val started = System.nanoTime()
    done.chunk.write(to)
    summary.addFacts(chunk.column, done.chunk.knownFacts)
    summary.addWork(chunk.tier, TierTally(chunk.compressedBytes, done.nanos + System.nanoTime() - started))
  }
}

private object RowGroupPipeline {

  private sealed trait State

  private object State {

    /** Nothing is in progress. */
    case object Idle extends State

    /** Workers encode some of the columns again; the others are copied when the row group is written. */
    final case class InWork(
        group: PlannedRowGroup,
        chunks: IndexedSeq[PlannedChunk],
        pending: ColumnWorkers.Pending
    ) extends State
  }
}
