package io.deltaupkeep.parquet

import java.util.concurrent.{Callable, ConcurrentLinkedQueue, Executors, Future}

import org.apache.parquet.column.ColumnDescriptor

import org.apache.hadoop.conf.Configuration

/** What a row group of an input gives to one column of the output. */
private[parquet] final case class ChunkPart(rowGroup: RowGroup, source: ColumnSource) {

  /** Of the chunk in the file; 0 where it lacks the column. */
  def compressedBytes: Long = source match {
    case ColumnSource.Present(column, _, _) => rowGroup.chunk(column).getTotalSize
    case _ => 0
  }
}

/** Splices the columns of a row group side by side. */
private[parquet] final class ColumnWorkers(settings: SpliceSettings, conf: Configuration)
    extends AutoCloseable {
  import ColumnWorkers._

  private val pool = Executors.newFixedThreadPool(settings.threads, DaemonThreads("delta-upkeep-splice"))
  private val idle = new ConcurrentLinkedQueue[ChunkScratch]

  def submit(column: ColumnDescriptor, parts: Seq[ChunkPart]): Future[Done] =
    pool.submit(new Callable[Done] {
      override def call(): Done = {
        val started = System.nanoTime()
        val scratch = Option(idle.poll()).getOrElse(new ChunkScratch(new PageCodec(conf)))
        try {
          val chunk = splice(column, parts, scratch)
          Done(chunk, System.nanoTime() - started)
        } finally idle.add(scratch)
      }
    })

  private def splice(column: ColumnDescriptor, parts: Seq[ChunkPart], scratch: ChunkScratch): SplicedChunk = {
    val bloom = Option.when(parts.exists(hasBloomFilter)) {
      new BloomValues(column.getPrimitiveType, settings.bloomFilterBytes)
    }
    val splicer = new ChunkSplicer(column, settings.layout, settings.codec, scratch.codec, bloom)
    parts.foreach { part =>
      part.source match {
        case ColumnSource.Present(from, levels, _) =>
          splicer.append(reader(part.rowGroup, from, scratch), levels)
        case ColumnSource.Shaped(from, levels) =>
          splicer.appendShape(reader(part.rowGroup, from, scratch), levels)
        case ColumnSource.Absent => splicer.appendNulls(part.rowGroup.rows, level = 0)
      }
    }
    splicer.finish()
  }

  private def reader(group: RowGroup, column: ColumnDescriptor, scratch: ChunkScratch): ChunkReader = {
    val chunk = group.chunk(column)
    val bytes = group.file.bytes.read(chunk.getStartingPos, Math.toIntExact(chunk.getTotalSize))
    new ChunkReader(column, chunk, bytes.array, bytes.from, scratch)
  }

  private def hasBloomFilter(part: ChunkPart): Boolean = part.source match {
    case ColumnSource.Present(column, _, _) => part.rowGroup.chunk(column).getBloomFilterOffset >= 0
    case _ => false
  }

  override def close(): Unit = {
    pool.shutdownNow()
    // A thread that still runs keeps its scratch, and what that holds goes with it.
    Iterator.continually(idle.poll()).takeWhile(_ != null).foreach(_.codec.close())
  }
}

private[parquet] object ColumnWorkers {
  final case class Done(chunk: SplicedChunk, nanos: Long)
}

/** Threads that do not keep a JVM alive. */
private[parquet] object DaemonThreads {
  def apply(name: String): java.util.concurrent.ThreadFactory = work => {
    val thread = new Thread(work, name)
    thread.setDaemon(true)
    thread
  }
}
