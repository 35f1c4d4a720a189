package io.deltaupkeep.plan.compact

import java.util.{Arrays, Comparator}
import java.util.function.ToLongFunction

import scala.collection.mutable.ArrayBuffer

/**
 * First-fit decreasing: each item, largest first, goes into the first bin that still has room.
 *
 * Example, capacity 10: sizes 6, 5, 4, 3, 2 pack into (6, 4) and (5, 3, 2). An item over the capacity gets
 * a bin of its own. Time is O(n log n): the first bin with room is found in a tree of maxima, so a million
 * files of a partition take about a second. No bin has room for all of another: first fit would have used it.
 */
private[deltaupkeep] object FirstFit {

  def pack[T <: AnyRef](items: Seq[T], capacity: Long)(size: ToLongFunction[T]): Seq[Seq[T]] = {
    // Scala's own sorting makes an object of each number that it compares.
    val largestFirst =
      items.iterator.map(item => new Sized(item, math.min(size.applyAsLong(item), capacity))).toArray
    Arrays.sort(largestFirst, largest[T])
    val room = new RoomTree(mostBins(largestFirst, capacity), capacity)
    val bins = ArrayBuffer.empty[ArrayBuffer[T]]
    largestFirst.foreach { sized =>
      val bin = room.take(sized.size)
      if (bin == bins.size) bins += ArrayBuffer.empty[T]
      bins(bin) += sized.item
    }
    bins.iterator.map(_.toIndexedSeq).toIndexedSeq
  }

  private final class Sized[T](val item: T, val size: Long)

  private def largest[T]: Comparator[Sized[T]] = (a, b) => java.lang.Long.compare(b.size, a.size)

  /** All bins but one are more than half full, or two of them would be one. */
  private def mostBins(items: Array[_ <: Sized[_]], capacity: Long): Int = {
    var halves = 0d
    // A damaged log may have negative ones.
    items.foreach(item => halves += 2 * math.max(0L, item.size).toDouble / capacity)
    math.min(items.length.toDouble, math.ceil(halves) + 1).toInt
  }

  /** The room left in each bin, as a binary tree whose inner nodes hold the larger of their children. */
  private final class RoomTree(bins: Int, capacity: Long) {
    private val leaves = Integer.highestOneBit(math.max(1, 2 * bins - 1))
    private val room = Array.fill(2 * leaves)(capacity)

    /** Takes `size` from the first bin that has it and returns the bin's number. */
    def take(size: Long): Int = {
      var node = 1
      while (node < leaves) node = if (room(2 * node) >= size) 2 * node else 2 * node + 1
      val bin = node - leaves
      room(node) -= size
      node /= 2
      while (node >= 1) {
        room(node) = math.max(room(2 * node), room(2 * node + 1))
        node /= 2
      }
      bin
    }
  }
}
