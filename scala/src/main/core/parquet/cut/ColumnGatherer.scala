package io.deltaupkeep.parquet.cut

import io.deltaupkeep.SideBySide
import io.deltaupkeep.parquet.bytes.MalformedPage
import io.deltaupkeep.parquet.chunk.{
  ChunkScratch,
  ColumnSink,
  RowPages,
  ScratchMemory,
  ScratchPool,
  ScratchShare
}
import io.deltaupkeep.parquet.encoding.ValueShape
import io.deltaupkeep.parquet.file.PartReader
import io.deltaupkeep.parquet.merge.{ChunkSplicer, SplicedChunk}
import io.deltaupkeep.parquet.page.{BloomValues, HeldPages, LevelMap}
import io.deltaupkeep.parquet.plan.{ChunkPart, PlannedChunk, SpliceSettings}

import org.apache.hadoop.conf.Configuration

/**
 * Reads whole columns of a bin and gives their rows another order, several columns in parallel as far as memory allows.
 *
 * @param rows     of the bin
 * @param goOn     called now and then; throws if the work has to stop
 * @param settings whose bytes in flight are the memory of the columns that are read, and again of the new pages
 */
private[parquet] final class ColumnGatherer(
    rows: Int,
    settings: SpliceSettings,
    conf: Configuration,
    goOn: () => Unit
) extends AutoCloseable {
  import ColumnGatherer._

  private val buffers =
    new ScratchPool(conf, settings.heldPageBytes, settings.heldScratchBytes / settings.threads)
  private val memory = new ScratchMemory(settings.bytesInFlight - RowPlaces.BytesPerRow.toLong * rows)
  private val newPages = new HeldPages(settings.heldRowGroupBytes)

  /** Reads key columns. */
  def keys(columns: Seq[PlannedChunk]): IndexedSeq[HeldRows] =
    SideBySide.map(columns, Name, settings.threads)(column => inRoom(column)(hold(column, _, _))).toIndexedSeq

  /**
   * The chunks of each column.
   *
   * @param places of all rows
   * @param groups where the row groups of new files begin and end in their order
   */
  def gather(columns: Seq[PlannedChunk], places: RowPlaces, groups: Seq[(Int, Int)]): Seq[Gathered] = {
    // Largest first, so that the last ones are short.
    val indexes = columns.indices.sortBy(i => -bytesOf(columns(i)))
    val made = SideBySide.map(indexes, Name, settings.threads)(i => i -> gather(columns(i), places, groups))
    made.sortBy(_._1).map(_._2)
  }

  private def gather(column: PlannedChunk, places: RowPlaces, groups: Seq[(Int, Int)]): Gathered = {
    val started = System.nanoTime()
    inRoom(column) { (scratch, room) =>
      val pages = if (column.column.getMaxRepetitionLevel > 0) {
        val held = hold(column, scratch, room)
        (from: Int, until: Int) => new GatheredPages(held, places.order, from, until, settings.layout)
      } else {
        val held = scatter(column, places, scratch, room)
        (from: Int, until: Int) => new ScatteredPages(held, from, until, settings.layout)
      }
      val chunks = groups.map { case (from, until) => chunkOf(column, pages(from, until), scratch) }
      Gathered(chunks.toIndexedSeq, System.nanoTime() - started)
    }
  }

  private def hold(column: PlannedChunk, scratch: ChunkScratch, room: ColumnRoom): HeldRows = {
    val held = new HeldColumn(column.column, settings.bytesInFlight, sizeOf(column), room)
    read(column, held, scratch)
    requireAll(held.rows)
    held.finish()
  }

  private def scatter(
      column: PlannedChunk,
      places: RowPlaces,
      scratch: ChunkScratch,
      room: ColumnRoom
  ): ScatteredColumn = {
    val mostEntries = rows / (RowsOfEntry * math.max(1, column.parts.size))
    val scattered =
      new ScatteredColumn(column.column, places, mostEntries, settings.bytesInFlight, sizeOf(column), room)
    read(column, scattered, scratch)
    requireAll(scattered.rows)
    scattered
  }

  private def read(column: PlannedChunk, to: ColumnSink, scratch: ChunkScratch): Unit = {
    val reader = new PartReader(scratch, settings.layout.pageRows)
    column.parts.foreach { part =>
      goOn()
      reader.append(part, to)
    }
  }

  private def requireAll(found: Int): Unit =
    if (found != rows) throw new MalformedPage(s"$found rows of a column where there are $rows")

  private def chunkOf(column: PlannedChunk, pages: RowPages, scratch: ChunkScratch): SplicedChunk = {
    goOn()
    import column.{collectionLevel, parts}
    val bloom = Option.when(parts.exists(_.hasBloomFilter)) {
      new BloomValues(column.column.getPrimitiveType, settings.bloomFilterBytes)
    }
    val splicer = new ChunkSplicer(
      column.column,
      settings.layout,
      settings.codec,
      scratch,
      bloom,
      newPages,
      collectionLevel
    )
    splicer.append(pages, LevelMap.identity(column.column))
    splicer.finish()
  }

  private def inRoom[T](column: PlannedChunk)(work: (ChunkScratch, ColumnRoom) => T): T = {
    val scratch = buffers.take()
    val share = memory.share()
    try {
      val room = new ColumnRoom(share)
      scratch.begin(room.buffers)
      room.growTo(bytesOf(column))
      work(scratch, room)
    } finally {
      share.close()
      buffers.giveBack(scratch)
    }
  }

  override def close(): Unit = buffers.close()
}

private[parquet] object ColumnGatherer {
  private val Name = "delta-upkeep-gather"

  /** A dictionary is kept if this many rows share an entry on average. */
  private val RowsOfEntry = 16

  /** More than any memory has room for, so that sums do not overflow, whatever a footer says. */
  private val MostLevels = 1L << 40

  /** The chunks of a column in the row groups of the new files, and the time that they took. */
  final case class Gathered(chunks: IndexedSeq[SplicedChunk], nanos: Long)

  /** About the memory that a column takes while its rows are taken in another order. */
  def bytesOf(column: PlannedChunk): Long = {
    val size = sizeOf(column)
    val shape = ValueShape.of(column.column.getPrimitiveType)
    val perLevel =
      4L + (if (shape.isVariable) 4 else 0) + (if (column.column.getMaxRepetitionLevel > 0) 5 else 0)
    math.max(size.entryBytes, shape.width * size.levels) + perLevel * size.levels
  }

  private def sizeOf(column: PlannedChunk): HeldSize =
    HeldSize(
      column.parts.map(levelsOf).sum,
      column.parts.flatMap(_.chunk).map(chunk => math.max(0, chunk.uncompressedSize)).sum
    )

  private def levelsOf(part: ChunkPart): Long =
    part.chunk.fold(part.rowGroup.rows)(chunk => math.min(chunk.values, MostLevels))
}

/**
 * The memory of a column in work: of its values, and of the buffers with which they are read and encoded. They take it
 * from one share, because a worker with two could wait for itself.
 */
private[cut] final class ColumnRoom(share: ScratchShare) {
  private var ofValues = 0L
  private var ofBuffers = 0L

  /** Grows what the values take. May wait for the memory. */
  def growTo(bytes: Long): Unit = if (bytes > ofValues) {
    ofValues = bytes
    share.growTo(ofValues + ofBuffers)
  }

  /** The share of the buffers. Whoever has the whole share closes it. */
  val buffers: ScratchShare = new ScratchShare {
    override def growTo(bytes: Long): Unit = if (bytes > ofBuffers) {
      ofBuffers = bytes
      share.growTo(ofValues + ofBuffers)
    }
    override def close(): Unit = ()
  }
}

private[cut] object ColumnRoom {

  /** For a worker that is alone. */
  def unlimited: ColumnRoom = new ColumnRoom(ScratchShare.Unlimited)
}
