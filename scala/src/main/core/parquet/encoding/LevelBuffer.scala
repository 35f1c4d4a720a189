package io.deltaupkeep.parquet.encoding

import io.deltaupkeep.parquet.bytes.{ByteSink, MalformedPage}

/** Repetition or definition levels of a page or a part of it. Equal levels take no memory. */
private[parquet] final class LevelBuffer {

  private var levels = Array.emptyIntArray
  private var count = 0
  private var constant = 0
  private var mixed = false

  def size: Int = count

  /** Whether every level is `value`. */
  def isAll(value: Int): Boolean = !mixed && constant == value

  def isMixed: Boolean = mixed

  /** How many levels are stored. */
  def stored: Int = if (mixed) count else 0

  /** The size of the stored levels if they were packed. */
  def packedBytes(maxLevel: Int): Long = stored.toLong * RunLength.widthOf(maxLevel) / 8

  def apply(i: Int): Int = if (mixed) levels(i) else constant

  /** The storage, valid if levels differ. */
  def array: Array[Int] = levels

  def clear(): Unit = {
    count = 0
    mixed = false
  }

  def add(value: Int): Unit =
    if (mixed && count < levels.length) {
      levels(count) = value
      count += 1
    } else if (!mixed && count > 0 && value == constant) count += 1
    else add(value, 1)

  def add(value: Int, times: Int): Unit =
    if (times > 0) {
      if (count == 0) constant = value
      if (mixed || value != constant) {
        materialize(count + times)
        java.util.Arrays.fill(levels, count, count + times, value)
      }
      count += times
    }

  def add(other: LevelBuffer, from: Int, to: Int): Unit =
    if (!other.mixed) add(other.constant, to - from)
    else if (to > from) {
      materialize(count + to - from)
      System.arraycopy(other.levels, from, levels, count, to - from)
      count += to - from
    }

  /** How many of the levels `from until to` are `value`. */
  def occurrences(value: Int, from: Int, to: Int): Int =
    if (!mixed) { if (constant == value) to - from else 0 }
    else {
      var found = 0
      var i = from
      while (i < to) {
        if (levels(i) == value) found += 1
        i += 1
      }
      found
    }

  /** Reads the levels of a page. */
  def decode(bytes: Array[Byte], from: Int, to: Int, maxLevel: Int, values: Int): Unit = {
    clear()
    if (maxLevel > 0 && levels.length < values) levels = new Array[Int](values)
    val run = RunLength.decode(bytes, from, to, RunLength.widthOf(maxLevel), values, levels)
    count = values
    mixed = run == RunLength.Mixed
    if (!mixed) constant = run
    requireUpTo(maxLevel)
  }

  /** Otherwise levels that the column cannot have would reach the output unnoticed. */
  def requireUpTo(maxLevel: Int): Unit =
    if (largest > maxLevel) throw new MalformedPage(s"a level of $largest where the greatest is $maxLevel")

  private def largest: Int =
    if (!mixed) constant
    else {
      var found = 0
      var i = 0
      while (i < count) {
        found = math.max(found, levels(i))
        i += 1
      }
      found
    }

  def encode(maxLevel: Int, out: ByteSink): Unit = {
    val width = RunLength.widthOf(maxLevel)
    if (mixed) RunLength.encode(levels, count, width, out)
    else RunLength.encodeRun(constant, count, width, out)
  }

  private def materialize(capacity: Int): Unit = {
    if (levels.length < capacity)
      levels = java.util.Arrays.copyOf(levels, math.max(capacity, 2 * levels.length))
    if (!mixed) {
      java.util.Arrays.fill(levels, 0, count, constant)
      mixed = true
    }
  }
}
