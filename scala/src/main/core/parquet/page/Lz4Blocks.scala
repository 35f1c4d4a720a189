package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.bytes.{LittleEndian, MalformedPage}

import net.jpountz.lz4.{LZ4Exception, LZ4Factory}
import org.apache.parquet.bytes.BytesInput

/**
 * Pages of Hadoop's LZ4 codec, Parquet's LZ4: blocks of their length and of chunks, each of its compressed length and
 * its bytes. Lengths are big-endian numbers of four bytes. Hadoop's reader trusts them, and Arrow's and DuckDB's
 * expect that each block has one chunk.
 */
private[page] object Lz4Blocks {

  private lazy val decompressor = LZ4Factory.fastestInstance().safeDecompressor()

  /**
   * A page as Hadoop's codec has to be given it: it makes a block of one chunk from as many slices as fill its buffer,
   * and one of several chunks from a slice that is longer.
   */
  def slices(page: Array[Byte], count: Int): BytesInput = {
    val slices =
      (0 until count by SliceBytes).map(at => BytesInput.from(page, at, math.min(SliceBytes, count - at)))
    BytesInput.concat(slices: _*)
  }

  /** Fills `out` with the `size` bytes that `count` bytes of `in` hold. */
  def decompress(in: Array[Byte], from: Int, count: Int, out: Array[Byte], outFrom: Int, size: Int): Unit = {
    val (end, outEnd) = (from + count, outFrom + size)
    var (at, to) = (from, outFrom)
    def length(most: Int, what: String): Int = {
      val length = if (end - at < LengthBytes) -1 else Integer.reverseBytes(LittleEndian.getInt(in, at))
      at += LengthBytes
      if (length < 0 || length > most) throw new MalformedPage(s"an LZ4 block without its $what")
      length
    }
    while (to < outEnd) {
      val blockEnd = to + length(outEnd - to, "length")
      while (to < blockEnd) {
        val compressed = length(end - at - LengthBytes, "chunk")
        to +=
          (try decompressor.decompress(in, at, compressed, out, to, blockEnd - to)
          catch { case e: LZ4Exception => throw new MalformedPage(e.getMessage) })
        at += compressed
      }
    }
    // Hadoop ends a page whose last block has several chunks with an empty block.
    while (at < end) length(0, "end")
  }

  private val LengthBytes = 4

  /** A part of Hadoop's buffer (`io.compression.codec.lz4.buffersize`, 256 KiB by default). */
  private val SliceBytes = 16 << 10
}
