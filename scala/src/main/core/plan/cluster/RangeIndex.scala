package io.deltaupkeep.plan.cluster

import io.deltaupkeep.FileTotal
import io.deltaupkeep.stats.KeyRange

/** Finds the files of a partition by their ranges of values, in logarithmic time. */
private[cluster] final class RangeIndex(files: IndexedSeq[(KeyRange, Long)]) {
  private val unknown = FileTotal.of(files.collect { case (KeyRange.Unknown, bytes) => bytes })
  private val lows = new Ends(files.collect { case (KeyRange.Between(low, _), bytes) => low -> bytes })
  private val highs = new Ends(files.collect { case (KeyRange.Between(_, high), bytes) => high -> bytes })
  // Ranges begin at lows alone, so the value that is in most of them is one.
  private val atLows = new Highest(lows.ranks.map(at(_).files))

  def size: Int = files.size

  /** The files that may have a value. */
  def at(rank: Int): FileTotal = {
    val (begun, ended) = (lows.below(rank + 1), highs.below(rank))
    FileTotal(begun.files - ended.files + unknown.files, begun.bytes - ended.bytes + unknown.bytes)
  }

  /** How many files may have the value of a file's range that most files may have. */
  def deepest(low: Int, high: Int): Long =
    atLows.in(lows.below(low).files.toInt, lows.below(high + 1).files.toInt)

  /** How many files may have a value of a range. */
  def meeting(low: Int, high: Int): Long =
    lows.below(high + 1).files - highs.below(low).files + unknown.files
}

/** One end of the range of each file. */
private[cluster] final class Ends(ends: Seq[(Int, Long)]) {
  private val sorted = ends.sortBy(_._1)
  private val bytesBefore = sorted.map(_._2).scanLeft(0L)(_ + _).toArray

  val ranks: Array[Int] = sorted.map(_._1).toArray

  /** The files whose end is below a rank. */
  def below(rank: Int): FileTotal = {
    var (from, until) = (0, ranks.length)
    while (from < until) {
      val middle = (from + until) >>> 1
      if (ranks(middle) < rank) from = middle + 1 else until = middle
    }
    FileTotal(from.toLong, bytesBefore(from))
  }
}

/** The highest of some neighbouring numbers, from a tree of the highest of pairs. */
private[cluster] final class Highest(numbers: Array[Long]) {
  private val size = numbers.length
  private val tree = new Array[Long](size) ++ numbers
  for (i <- size - 1 to 1 by -1) tree(i) = math.max(tree(2 * i), tree(2 * i + 1))

  /** At least one number must be between the positions. */
  def in(from: Int, until: Int): Long = {
    var (left, right, highest) = (from + size, until + size, Long.MinValue)
    while (left < right) {
      if (left % 2 == 1) {
        highest = math.max(highest, tree(left))
        left += 1
      }
      if (right % 2 == 1) {
        right -= 1
        highest = math.max(highest, tree(right))
      }
      left /= 2
      right /= 2
    }
    highest
  }
}
