package io.deltaupkeep.parquet.encoding

import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian, MalformedPage}

/**
 * The RLE / bit-packing hybrid of levels and dictionary ids (Parquet format, 'Run Length Encoding /
 * Bit-Packing Hybrid'): runs of one value, and groups of eight values packed `width` bits each.
 *
 * Works on whole arrays, where parquet-java goes value by value.
 */
private[parquet] object RunLength {

  /** Bits that hold every value up to `max`. Example: 0 bits for 0, 1 for 1, 2 for 3, 3 for 4. */
  def widthOf(max: Int): Int = 32 - Integer.numberOfLeadingZeros(max)

  /** What [[decode]] returns if the values are not all in one run. */
  val Mixed: Int = -1

  /**
   * Reads `count` values from `bytes(from until to)` into `out`.
   *
   * @return the value if one run holds all of them, with `out` left untouched; [[Mixed]] otherwise
   */
  def decode(bytes: Array[Byte], from: Int, to: Int, width: Int, count: Int, out: Array[Int]): Int =
    if (width == 0) 0
    else {
      var at = from
      var done = 0
      var constant = Mixed
      while (done < count) {
        var header = 0
        var shift = 0
        var more = true
        while (more) {
          if (at >= to) throw new MalformedPage(s"$done of $count values are there")
          val byte = bytes(at)
          at += 1
          header |= (byte & 0x7f) << shift
          shift += 7
          more = byte < 0
        }
        // Spark continues with the next run; parquet-java repeats this run's value to the end.
        if (header >>> 1 == 0) throw new MalformedPage(s"an empty run after $done of $count values")
        val left = count - done
        if ((header & 1) == 0) {
          val run = math.min(header >>> 1, left)
          if (at + (width + 7) / 8 > to)
            throw new MalformedPage(s"a run after $done of $count values is cut off")
          var value = 0
          var i = 0
          while (i < (width + 7) / 8) {
            value |= (bytes(at) & 0xff) << (8 * i)
            at += 1
            i += 1
          }
          if (run == count && value != Mixed) constant = value
          else java.util.Arrays.fill(out, done, done + run, value)
          done += run
        } else {
          val packed = math.min((header >>> 1).toLong * 8, left.toLong).toInt
          unpack(bytes, at, to, width, packed, out, done)
          at = math.min(at.toLong + (header >>> 1).toLong * width, to.toLong).toInt
          done += packed
        }
      }
      constant
    }

  private def unpack(
      bytes: Array[Byte],
      from: Int,
      to: Int,
      width: Int,
      count: Int,
      out: Array[Int],
      outFrom: Int
  ): Unit = {
    if (from + (count.toLong * width + 7) / 8 > to)
      throw new MalformedPage(s"$count packed values are cut off")
    val mask = (1L << width) - 1
    var bit = from.toLong * 8
    var i = 0
    // Eight bytes hold any value, wherever in a byte it starts.
    val fast = math.min(count.toLong, math.max(0L, ((bytes.length - 8L - from) * 8) / width)).toInt
    while (i < fast) {
      val word = LittleEndian.getLong(bytes, (bit >>> 3).toInt)
      out(outFrom + i) = ((word >>> (bit & 7).toInt) & mask).toInt
      bit += width
      i += 1
    }
    while (i < count) {
      var word = 0L
      var byte = (bit >>> 3).toInt
      var shift = -(bit & 7).toInt
      while (shift < width) {
        val next = bytes(byte) & 0xffL
        word |= (if (shift < 0) next >>> -shift else next << shift)
        byte += 1
        shift += 8
      }
      out(outFrom + i) = (word & mask).toInt
      bit += width
      i += 1
    }
  }

  /** Writes `value`, `count` times, as one run. */
  def encodeRun(value: Int, count: Int, width: Int, out: ByteSink): Unit =
    if (count > 0) {
      out.putVarInt(count << 1)
      var i = 0
      while (i < (width + 7) / 8) {
        out.put(value >>> (8 * i))
        i += 1
      }
    }

  /** Writes the first `count` values. A group of eight equal values starts a run. */
  def encode(values: Array[Int], count: Int, width: Int, out: ByteSink): Unit = {
    var packedFrom = 0
    var i = 0
    while (i < count) {
      val run = runFrom(values, i, count)
      if (run >= 8) {
        pack(values, packedFrom, i, width, out)
        encodeRun(values(i), run, width, out)
        i += run
        packedFrom = i
      } else i += 8
    }
    pack(values, packedFrom, count, width, out)
  }

  private def runFrom(values: Array[Int], from: Int, to: Int): Int = {
    val value = values(from)
    var i = from + 1
    while (i < to && values(i) == value) i += 1
    i - from
  }

  private def pack(values: Array[Int], from: Int, to: Int, width: Int, out: ByteSink): Unit =
    if (to > from) {
      val groups = (to - from + 7) / 8
      out.putVarInt((groups << 1) | 1)
      // Whole words are written, so the last one may run past the end.
      out.reserve(groups * width + 16)
      val whole = if (width < 16) (to - from) / 8 else 0
      packNarrow(values, from, whole, width, out)
      packRest(values, from + 8 * whole, to, (groups - whole) * width, width, out)
    }

  /** Packs groups of eight values of less than 16 bits, two words per group. */
  private def packNarrow(values: Array[Int], from: Int, groups: Int, width: Int, out: ByteSink): Unit = {
    val bytes = out.array
    var at = out.length
    var i = from
    val end = from + 8 * groups
    while (i < end) {
      val low = four(values, i, width)
      val high = four(values, i + 4, width)
      LittleEndian.putLong(bytes, at, low | (high << (4 * width)))
      // In two steps: for a width of 0, a single shift by 64 would shift by 0.
      LittleEndian.putLong(bytes, at + 8, (high >>> 1) >>> (63 - 4 * width))
      at += width
      i += 8
    }
    out.advance(groups * width)
  }

  private def four(values: Array[Int], i: Int, width: Int): Long =
    values(i) | (values(i + 1).toLong << width) | (values(i + 2).toLong << (2 * width)) |
      (values(i + 3).toLong << (3 * width))

  /** Packs values of any width into `length` bytes. */
  private def packRest(
      values: Array[Int],
      from: Int,
      to: Int,
      length: Int,
      width: Int,
      out: ByteSink
  ): Unit = {
    val bytes = out.array
    var at = out.length
    var word = 0L
    var bits = 0
    var i = from
    while (i < to) {
      val value = values(i) & 0xffffffffL
      word |= value << bits
      bits += width
      if (bits >= 64) {
        LittleEndian.putLong(bytes, at, word)
        at += 8
        bits -= 64
        // The bits that did not fit. No value has more than 32 bits, so the shift is below 64.
        word = value >>> (width - bits)
      }
      i += 1
    }
    LittleEndian.putLong(bytes, at, word)
    val end = out.length + length
    if (at + 8 < end) java.util.Arrays.fill(bytes, at + 8, end, 0.toByte)
    out.advance(length)
  }
}
