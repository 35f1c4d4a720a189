package io.deltaupkeep.parquet.encoding

/** A growable array of dictionary ids; its storage is reused. */
private[parquet] final class IdBuffer {

  private var ids = Array.emptyIntArray
  private var end = 0

  /** The storage: valid up to `size`, and until the next [[reserve]]. */
  def array: Array[Int] = ids

  def size: Int = end

  def clear(): Unit = end = 0

  /** Makes room for `count` ids after `size`, for a caller who writes to the storage and then advances. */
  def reserve(count: Int): Unit =
    if (end + count > ids.length) ids = java.util.Arrays.copyOf(ids, math.max(end + count, 2 * ids.length))

  def advance(count: Int): Unit = end += count

  def add(source: Array[Int], from: Int, to: Int): Unit = {
    reserve(to - from)
    System.arraycopy(source, from, ids, end, to - from)
    advance(to - from)
  }
}
