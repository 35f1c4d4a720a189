package io.deltaupkeep.parquet.bytes

/** A growable byte array whose storage is reused; numbers are little-endian, as everywhere in Parquet. */
private[parquet] final class ByteSink(initial: Int = 1 << 12) {

  private var bytes = new Array[Byte](initial)
  private var end = 0

  /** The storage: valid up to `length`, and until the next write. */
  def array: Array[Byte] = bytes

  def length: Int = end

  def clear(): Unit = end = 0

  def truncate(length: Int): Unit = end = length

  def toArray: Array[Byte] = java.util.Arrays.copyOf(bytes, end)

  def put(value: Int): Unit = {
    reserve(1)
    bytes(end) = value.toByte
    end += 1
  }

  def putInt(value: Int): Unit = {
    reserve(4)
    LittleEndian.putInt(bytes, end, value)
    end += 4
  }

  def putLong(value: Long): Unit = {
    reserve(8)
    LittleEndian.putLong(bytes, end, value)
    end += 8
  }

  def putBytes(source: Array[Byte], from: Int, count: Int): Unit = {
    reserve(count)
    System.arraycopy(source, from, bytes, end, count)
    end += count
  }

  /** An unsigned number in groups of seven bits, lowest first (ULEB128). */
  def putVarInt(value: Int): Unit = {
    var rest = value
    while ((rest & ~0x7f) != 0) {
      put((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    put(rest)
  }

  /** Makes room for `count` bytes after `length`, for a caller who writes to the storage and then advances. */
  def reserve(count: Int): Unit = {
    val needed = end + count
    // An overflowed sum is negative.
    if (needed < 0) throw new OutOfMemoryError(s"A page of more than ${Int.MaxValue} bytes")
    if (needed > bytes.length) {
      val doubled = math.min(bytes.length.toLong * 2, Int.MaxValue - 16L).toInt
      bytes = java.util.Arrays.copyOf(bytes, math.max(needed, doubled))
    }
  }

  def advance(count: Int): Unit = end += count
}
