package io.deltaupkeep.parquet.encoding

import io.deltaupkeep.parquet.bytes.{LittleEndian, MalformedPage}

import net.jpountz.lz4.{LZ4Exception, LZ4Factory}
import org.apache.parquet.bytes.BytesInput

/**
 * Pages of Parquet's LZ4, which is Hadoop's codec. A block is its length and its chunks; a chunk is its compressed
 * length and its bytes. Lengths are big-endian numbers of four bytes. Hadoop's reader trusts them; Arrow's and DuckDB's
 * expect one chunk per block.
 */
private[encoding] object Lz4Blocks {

  private lazy val decompressor = LZ4Factory.fastestInstance().safeDecompressor()

  /**
   * A page, cut for Hadoop's codec. It makes one block of one chunk from as many slices as fit into its buffer, but a
   * block of several chunks from a slice that is longer than the buffer.
   */
  def slices(page: Array[Byte], count: Int): BytesInput = {
    val slices =
      (0 until count by SliceBytes).map(at => BytesInput.from(page, at, math.min(SliceBytes, count - at)))
    BytesInput.concat(slices: _*)
  }

  /** Decompresses `count` bytes of `in` to `size` bytes of `out`. */
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
    // If a page's last block has several chunks, Hadoop appends an empty block.
    while (at < end) length(0, "end")
  }

  private val LengthBytes = 4

  /** A fraction of Hadoop's buffer (`io.compression.codec.lz4.buffersize`, 256 KiB by default). */
  private val SliceBytes = 16 << 10
}
