package io.deltaupkeep.parquet.file

import java.util.concurrent.{Callable, ExecutionException, Executors, Future}

import io.deltaupkeep.{DaemonThreads, UnreadableInput}
import io.deltaupkeep.parquet.chunk.{ChunkScratch, ScratchMemory, ScratchPool}
import io.deltaupkeep.parquet.merge.{
  ChunkRecompressor,
  ChunkSplicer,
  ReadyChunk,
  RecompressedChunk,
  SplicedChunk
}
import io.deltaupkeep.parquet.page.{BloomValues, HeldPages, RowGroupTooLarge}
import io.deltaupkeep.parquet.plan.{ChunkTier, ColumnSource, PlannedChunk, SpliceSettings}

import org.apache.hadoop.conf.Configuration

/** Splices the columns of a row group in parallel. */
private[parquet] final class ColumnWorkers(settings: SpliceSettings, conf: Configuration)
    extends AutoCloseable {
  import ColumnWorkers._

  private val pool = Executors.newFixedThreadPool(settings.threads, DaemonThreads("delta-upkeep-splice"))
  private val buffers =
    new ScratchPool(conf, settings.heldPageBytes, settings.heldScratchBytes / settings.threads)
  private val memory = new ScratchMemory(settings.heldScratchBytes)

  /** Starts all chunks, largest first, so that the last ones are short. */
  def submitAll(chunks: IndexedSeq[PlannedChunk]): Pending = {
    val held = new HeldPages(settings.heldRowGroupBytes)
    val started = new Array[Future[Done]](chunks.size)
    chunks.indices.sortBy(i => -chunks(i).compressedBytes).foreach { i =>
      started(i) = submit(chunks(i), held)
    }
    new Pending(started.toIndexedSeq)
  }

  private def submit(planned: PlannedChunk, held: HeldPages): Future[Done] =
    pool.submit(new Callable[Done] {
      override def call(): Done = {
        val started = System.nanoTime()
        val scratch = buffers.take()
        val share = memory.share()
        try {
          scratch.begin(share)
          val chunk = planned.tier match {
            case ChunkTier.Recompress => recompress(planned, scratch, held)
            case _ => splice(planned, scratch, held)
          }
          Done(chunk, System.nanoTime() - started)
        } finally {
          buffers.giveBack(scratch)
          share.close()
        }
      }
    })

  private def recompress(planned: PlannedChunk, scratch: ChunkScratch, held: HeldPages): RecompressedChunk = {
    val group = planned.parts.head.rowGroup
    planned.parts.head.source match {
      case ColumnSource.Present(index, _, _, _) =>
        UnreadableInput.naming(group.file.name) {
          new ChunkRecompressor(settings.codec, scratch, held).recompress(
            planned.column,
            group.file.writtenBy,
            group.file.bytes,
            group.chunkToCopy(index),
            group.chunk(index)
          )
        }
      case _ => throw new IllegalStateException("Only a column that is there can be recompressed")
    }
  }

  private def splice(planned: PlannedChunk, scratch: ChunkScratch, held: HeldPages): SplicedChunk = {
    import planned.{collectionLevel, column, parts}
    val bloom = Option.when(parts.exists(_.hasBloomFilter)) {
      new BloomValues(column.getPrimitiveType, settings.bloomFilterBytes)
    }
    val splicer =
      new ChunkSplicer(column, settings.layout, settings.codec, scratch, bloom, held, collectionLevel)
    val reader = new PartReader(scratch, settings.layout.pageRows)
    parts.foreach(reader.append(_, splicer))
    splicer.finish()
  }

  override def close(): Unit = {
    // Their memory counts until they have ended.
    DaemonThreads.stop(pool)
    buffers.close()
  }
}

private[parquet] object ColumnWorkers {
  final case class Done(chunk: ReadyChunk, nanos: Long)

  /** The chunks of a row group in progress. */
  final class Pending(work: IndexedSeq[Future[Done]]) {

    /** Waits for all of them; None if they take more memory than a row group may. */
    def result(): Option[IndexedSeq[Done]] = {
      val ends = work.map(endOf)
      Option.when(ends.forall(_.nonEmpty))(ends.flatten)
    }

    private def endOf(one: Future[Done]): Option[Done] =
      try Some(one.get())
      catch {
        case e: ExecutionException =>
          e.getCause match {
            case _: RowGroupTooLarge => None
            case cause => throw cause
          }
      }
  }
}
