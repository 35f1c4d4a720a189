package io.deltaupkeep.parquet

import java.util.Arrays

/**
 * The distinct values of an output column chunk, in order of their first appearance, as its dictionary page
 * will hold them.
 *
 * @param maxBytes of the page; a value beyond it is refused (parquet-java: `parquet.dictionary.page.size`)
 */
private[parquet] final class ValueDictionary(shape: ValueShape, maxBytes: Int) {
  import ValueDictionary._

  private val entries = new ByteSink()
  private var starts = new Array[Int](InitialSlots / 2 + 1)
  private var slots = emptySlots(InitialSlots)
  private var count = 0

  def size: Int = count

  def isEmpty: Boolean = count == 0

  /** The entries in PLAIN encoding, valid up to [[byteSize]]. */
  def array: Array[Byte] = entries.array

  def byteSize: Int = entries.length

  def start(id: Int): Int = starts(id)

  /** Number of the value whose encoded form is given, which is added if it is new; [[Full]] if it does not fit. */
  def idOf(source: Array[Byte], from: Int, to: Int): Int = {
    var slot = hash(source, from, to) & (slots.length - 1)
    var id = slots(slot)
    while (id >= 0 && !equal(id, source, from, to)) {
      slot = (slot + 1) & (slots.length - 1)
      id = slots(slot)
    }
    if (id >= 0) id
    else if (entries.length + (to - from) > maxBytes) Full
    else {
      starts(count) = entries.length
      entries.putBytes(source, from, to - from)
      slots(slot) = count
      count += 1
      starts(count) = entries.length
      if (count * 2 >= slots.length) grow()
      count - 1
    }
  }

  /** Forgets the entries from `size` on. No value may be added any more. */
  def truncate(size: Int): Unit = {
    count = size
    entries.truncate(starts(size))
  }

  private def equal(id: Int, source: Array[Byte], from: Int, to: Int): Boolean = shape.width match {
    case 8 => LittleEndian.getLong(entries.array, starts(id)) == LittleEndian.getLong(source, from)
    case 4 => LittleEndian.getInt(entries.array, starts(id)) == LittleEndian.getInt(source, from)
    case _ => Arrays.equals(entries.array, starts(id), starts(id + 1), source, from, to)
  }

  private def grow(): Unit = {
    slots = emptySlots(slots.length * 2)
    starts = Arrays.copyOf(starts, slots.length / 2 + 1)
    var id = 0
    while (id < count) {
      var slot = hash(entries.array, starts(id), starts(id + 1)) & (slots.length - 1)
      while (slots(slot) >= 0) slot = (slot + 1) & (slots.length - 1)
      slots(slot) = id
      id += 1
    }
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

  private def mix(value: Long): Int = {
    val product = value * Multiplier
    (product ^ (product >>> 32)).toInt
  }

  private def emptySlots(length: Int): Array[Int] = {
    val slots = new Array[Int](length)
    Arrays.fill(slots, -1)
    slots
  }
}
