package io.deltaupkeep.parquet

import java.lang.invoke.MethodHandles
import java.nio.ByteOrder

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

/** Numbers in a byte array, at any position. */
private[parquet] object LittleEndian {
  private val ints = MethodHandles.byteArrayViewVarHandle(classOf[Array[Int]], ByteOrder.LITTLE_ENDIAN)
  private val longs = MethodHandles.byteArrayViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)
  private val bigLongs = MethodHandles.byteArrayViewVarHandle(classOf[Array[Long]], ByteOrder.BIG_ENDIAN)

  def int(bytes: Array[Byte], at: Int): Int = ints.get(bytes, at).asInstanceOf[Int]

  def long(bytes: Array[Byte], at: Int): Long = longs.get(bytes, at).asInstanceOf[Long]

  def putInt(bytes: Array[Byte], at: Int, value: Int): Unit = ints.set(bytes, at, value)

  def putLong(bytes: Array[Byte], at: Int, value: Long): Unit = longs.set(bytes, at, value)

  /** Eight bytes, first one highest: unsigned order of these numbers is the order of the bytes. */
  def bigEndianLong(bytes: Array[Byte], at: Int): Long = bigLongs.get(bytes, at).asInstanceOf[Long]
}
