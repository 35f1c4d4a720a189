package io.deltaupkeep.parquet.chunk

import java.util.concurrent.ConcurrentLinkedQueue

import io.deltaupkeep.parquet.encoding.PageCodec

import org.apache.hadoop.conf.Configuration

/**
 * Buffers for workers, used again by the next one. Thread-safe.
 *
 * @param conf      settings of the codecs
 * @param pageBytes largest memory of a page, in bytes
 * @param idleBytes that buffers may take while nobody uses them: idle ones are not counted, so larger ones are dropped
 */
private[parquet] final class ScratchPool(conf: Configuration, pageBytes: Long, idleBytes: Long)
    extends AutoCloseable {
  private val idle = new ConcurrentLinkedQueue[ChunkScratch]

  def take(): ChunkScratch =
    Option(idle.poll()).getOrElse(new ChunkScratch(new PageCodec(conf), pageBytes))

  def giveBack(scratch: ChunkScratch): Unit =
    if (scratch.heldBytes <= idleBytes) { idle.add(scratch); () }
    else scratch.codec.close()

  /** A thread that still runs keeps its buffers, which are freed with it. */
  override def close(): Unit =
    Iterator.continually(idle.poll()).takeWhile(_ != null).foreach(_.codec.close())
}
