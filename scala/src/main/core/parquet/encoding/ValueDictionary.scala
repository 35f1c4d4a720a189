package io.deltaupkeep.parquet.encoding

import java.util.Arrays

import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian}

/**
 * The distinct values of an output column chunk, in order of their first appearance, as its dictionary page
 * will hold them.
 *
 * Storage is reused by the next chunk: see [[reset]].
 */
private[parquet] final class ValueDictionary {
  import ValueDictionary._

  private val entries = new ByteSink()
  private var starts = new Array[Int](InitialSlots / 2 + 1)
  // By entry. Most texts that share a slot differ in them, so their bytes need not be read.
  private var hashes = new Array[Int](InitialSlots / 2 + 1)
  // The hash table is the first `capacity` of these: a small table stays in the CPU's caches.
  private var slots = new Array[Int](InitialSlots)
  private var capacity = InitialSlots
  private var count = 0
  private var shape = ValueShape(0, isBoolean = false)
  private var maxBytes = 0

  /**
   * Empties it.
   *
   * @param kind  of the values to come
   * @param bytes largest size of the page; a value beyond it is refused (parquet-java:
   *              `parquet.dictionary.page.size`)
   */
  def reset(kind: ValueShape, bytes: Int): Unit = {
    entries.clear()
    count = 0
    shape = kind
    maxBytes = bytes
    setCapacity(InitialSlots)
  }

  def size: Int = count

  /** The entries in PLAIN encoding, valid up to [[byteSize]]. */
  def array: Array[Byte] = entries.array

  def byteSize: Int = entries.length

  def start(id: Int): Int = starts(id)

  /** The id of an encoded value. A new value is added; [[Full]] if it does not fit. */
  def idOf(source: Array[Byte], from: Int, to: Int): Int = {
    val hashed = hash(source, from, to)
    var slot = hashed & (capacity - 1)
    var id = slots(slot)
    while (id >= 0 && !equal(id, hashed, source, from, to)) {
      slot = (slot + 1) & (capacity - 1)
      id = slots(slot)
    }
    if (id >= 0) id
    else if (entries.length + (to - from) > maxBytes) Full
    else {
      starts(count) = entries.length
      hashes(count) = hashed
      entries.putBytes(source, from, to - from)
      slots(slot) = count
      count += 1
      starts(count) = entries.length
      if (count * 2 >= capacity) grow()
      count - 1
    }
  }

  /** Removes the entries from `size` on. No value may be added after that. */
  def truncate(size: Int): Unit = {
    count = size
    entries.truncate(starts(size))
  }

  private def equal(id: Int, hashed: Int, source: Array[Byte], from: Int, to: Int): Boolean =
    shape.width match {
      case 8 => LittleEndian.getLong(entries.array, starts(id)) == LittleEndian.getLong(source, from)
      case 4 => LittleEndian.getInt(entries.array, starts(id)) == LittleEndian.getInt(source, from)
      case _ =>
        hashes(id) == hashed && Arrays.equals(entries.array, starts(id), starts(id + 1), source, from, to)
    }

  private def grow(): Unit = {
    setCapacity(capacity * 2)
    var id = 0
    while (id < count) {
      var slot = hashes(id) & (capacity - 1)
      while (slots(slot) >= 0) slot = (slot + 1) & (capacity - 1)
      slots(slot) = id
      id += 1
    }
  }

  private def setCapacity(slotCount: Int): Unit = {
    capacity = slotCount
    if (slots.length < slotCount) {
      slots = new Array[Int](slotCount)
      starts = Arrays.copyOf(starts, slotCount / 2 + 1)
      hashes = Arrays.copyOf(hashes, slotCount / 2 + 1)
    }
    Arrays.fill(slots, 0, slotCount, -1)
  }

  private def hash(source: Array[Byte], from: Int, to: Int): Int = shape.width match {
    case 8 => mix(LittleEndian.getLong(source, from))
    case 4 => mix(LittleEndian.getInt(source, from).toLong)
    case _ =>
      var hash = (to - from).toLong
      var at = from
      while (at + 8 <= to) {
        hash = (hash ^ LittleEndian.getLong(source, at)) * Multiplier
        hash ^= hash >>> 32
        at += 8
      }
      while (at < to) {
        hash = (hash ^ source(at)) * Multiplier
        at += 1
      }
      mix(hash)
  }
}

private[parquet] object ValueDictionary {

  /** The answer for a value that does not fit. */
  val Full: Int = -1

  private val InitialSlots = 1 << 10

  /** The golden ratio in 64 bits: neighbours are spread over the table (Fibonacci hashing). */
  private val Multiplier = 0x9e3779b97f4a7c15L

  /** Whole numbers as doubles differ only in their upper bits, which a product does not move down. */
  private def mix(value: Long): Int = {
    val product = (value ^ (value >>> 32)) * Multiplier
    (product ^ (product >>> 32)).toInt
  }
}
