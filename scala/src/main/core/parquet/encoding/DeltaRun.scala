package io.deltaupkeep.parquet.encoding

import io.deltaupkeep.parquet.bytes.{CompactReader, MalformedPage}

import org.apache.parquet.column.Encoding

/**
 * Checks delta-encoded integers (Parquet format, 'Delta Encoding') before parquet-java decodes them, because it
 * would allocate as many values as the header claims before it finds them missing.
 */
private[parquet] object DeltaRun {

  /** Checks the header at the start of a page of at most `count` values. */
  def check(encoding: Encoding, bytes: Array[Byte], from: Int, to: Int, count: Int): Unit = encoding match {
    case Encoding.DELTA_BINARY_PACKED | Encoding.DELTA_LENGTH_BYTE_ARRAY =>
      endOf(bytes, from, to, count)
      ()
    case Encoding.DELTA_BYTE_ARRAY =>
      // The lengths of the prefixes shared with the previous value, then those of the suffixes.
      endOf(bytes, endOf(bytes, from, to, count), to, count)
      ()
    case _ => ()
  }

  private def endOf(bytes: Array[Byte], from: Int, to: Int, count: Int): Int = {
    val in = new CompactReader(bytes, from, to)
    val (block, miniblocks, values) = (in.readVarInt(), in.readVarInt(), in.readVarInt())
    val isPossible = block > 0 && block <= LongestBlock && miniblocks > 0 && block % (8 * miniblocks) == 0
    if (!isPossible || values < 0 || values > count)
      throw new MalformedPage(s"$values differences in blocks of $block, but it has $count values")
    in.readVarInt()
    val inMiniblock = block / miniblocks
    var left = values - 1
    while (left > 0) {
      in.readVarInt()
      val widths = in.position
      in.advance(miniblocks.toInt)
      var i = 0
      while (i < miniblocks && left > 0) {
        in.advance((inMiniblock * (bytes(widths + i) & 0xff) / 8).toInt)
        left -= inMiniblock
        i += 1
      }
    }
    in.position
  }

  /** Writers use 128 or 256. */
  private val LongestBlock = 1L << 16
}
