package io.deltaupkeep.plan.compact

import java.util.function.ToLongFunction

/**
 * First-fit decreasing: each item, largest first, goes into the first bin that still has room.
 *
 * Example, capacity 10: sizes 6, 5, 4, 3, 2 pack into (6, 4) and (5, 3, 2). An item over the capacity gets
 * a bin of its own. Time is O(n log n): the first bin with room is found in a tree of maxima, so a million
 * files of a partition take about a second. No bin has room for all of another: first fit would have used it. The items of
 * a bin keep their order.
 */
private[deltaupkeep] object FirstFit {

  def pack[T <: AnyRef](items: Seq[T], capacity: Long)(size: ToLongFunction[T]): Seq[Seq[T]] = {
    val all = items.toIndexedSeq
    // Larger ones come first in the order of what they leave.
    val left = new Array[Long](all.size)
    for (i <- all.indices) left(i) = math.max(0L, capacity - size.applyAsLong(all(i)))
    val room = new RoomTree(mostBins(left, capacity), capacity)
    val binOf = new Array[Int](all.size)
    Ascending.of(left).foreach(item => binOf(item) = room.take(capacity - left(item)))
    val bins = Vector.fill(if (all.isEmpty) 0 else binOf.max + 1)(IndexedSeq.newBuilder[T])
    // The order of the items is that of their memory, which is read faster.
    for (i <- all.indices) bins(binOf(i)) += all(i)
    bins.map(_.result())
  }

  /** All bins but one are more than half full, or two of them would be one. */
  private def mostBins(left: Array[Long], capacity: Long): Int = {
    var halves = 0d
    // A damaged log may have negative sizes.
    left.foreach(room => halves += 2 * math.max(0L, capacity - room).toDouble / capacity)
    math.min(left.length.toDouble, math.ceil(halves) + 1).toInt
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
