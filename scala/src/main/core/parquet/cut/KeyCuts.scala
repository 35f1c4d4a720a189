package io.deltaupkeep.parquet.cut

import scala.util.Random

/**
 * The keys of some rows, drawn at random.
 *
 * @param rows  how many rows they were drawn from
 * @param drawn by row, and then by key: the words of its value, or null
 */
final case class KeySample(rows: Long, drawn: Array[Array[Array[Long]]])

object KeySample {

  /**
   * @param keys of all rows
   * @param most of the rows that are drawn
   */
  private[parquet] def of(keys: IndexedSeq[HeldRows], rows: Int, most: Int): KeySample = {
    val words = keys.map(key => ValueWords.ofAnyForm(key.column.getPrimitiveType, key.entries))
    val drawn = Array.fill(math.min(rows, most)) {
      val row = Random.nextInt(rows)
      keys.zip(words).map { case (key, ofKey) =>
        val slot = key.slots(row)
        if (slot < 0) null else Array.tabulate(ofKey.words(slot))(ofKey.word(slot, _))
      }.toArray
    }
    KeySample(rows.toLong, drawn)
  }
}

/**
 * Some values of a key, ascending. A value has a position among them: 0 for null, 2i + 2 if it is the one at i, and else 2i + 1
 * if the one at i is the next larger one.
 */
private[cut] final class KeyCuts(values: Array[Array[Long]]) extends Serializable {
  import KeyCuts._

  /** The largest position. */
  def last: Int = 2 * values.length + 1

  def position(value: Array[Long]): Int =
    if (value == null) 0 else search(cut => compare(cut, value))

  def positions(key: HeldRows, rows: Int): Array[Int] = {
    val words = ValueWords.ofAnyForm(key.column.getPrimitiveType, key.entries)
    val ofEntries =
      Array.tabulate(key.entries.size)(entry => search(cut => compare(cut, words, entry)))
    val positions = new Array[Int](rows)
    var row = 0
    while (row < rows) {
      val slot = key.slots(row)
      positions(row) = if (slot < 0) 0 else ofEntries(slot)
      row += 1
    }
    positions
  }

  private def search(order: Array[Long] => Int): Int = {
    var (from, until) = (0, values.length)
    while (from < until) {
      val middle = (from + until) >>> 1
      val found = order(values(middle))
      if (found == 0) return 2 * middle + 2
      if (found < 0) from = middle + 1 else until = middle
    }
    2 * from + 1
  }
}

private[cut] object KeyCuts {

  def of(values: Seq[Array[Long]]): KeyCuts = {
    val sorted = values.filter(_ != null).sorted(new Ordering[Array[Long]] {
      override def compare(one: Array[Long], other: Array[Long]): Int = KeyCuts.compare(one, other)
    })
    val distinct =
      sorted.indices.collect { case i if i == 0 || compare(sorted(i - 1), sorted(i)) != 0 => sorted(i) }
    new KeyCuts(distinct.toArray)
  }

  /** Null is the smallest. */
  def compare(one: Array[Long], other: Array[Long]): Int =
    if (one == null || other == null) (if (one == null) 0 else 1) - (if (other == null) 0 else 1)
    else {
      var i = 0
      val words = math.max(one.length, other.length)
      while (i < words) {
        val order = java.lang.Long.compareUnsigned(
          if (i < one.length) one(i) else 0,
          if (i < other.length) other(i) else 0
        )
        if (order != 0) return order
        i += 1
      }
      0
    }

  private def compare(one: Array[Long], words: ValueWords, entry: Int): Int = {
    var i = 0
    val size = words.words(entry)
    while (i < one.length || i < size) {
      val order =
        java.lang.Long.compareUnsigned(
          if (i < one.length) one(i) else 0,
          if (i < size) words.word(entry, i) else 0
        )
      if (order != 0) return order
      i += 1
    }
    0
  }
}
