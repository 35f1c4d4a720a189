package io.deltaupkeep.plan.compact

import java.util.Arrays

/** Sorts by numbers, without an object for each of them: there may be millions. */
private[compact] object Ascending {

  /** The positions of the numbers in ascending order. Equal ones keep their order. */
  def of(numbers: Array[Long]): Array[Int] = {
    val least = if (numbers.isEmpty) 0L else numbers.min
    val range = if (numbers.isEmpty) 0L else numbers.max - least
    val bits = Integer.SIZE - Integer.numberOfLeadingZeros(numbers.length)
    if (range < 0 || java.lang.Long.numberOfLeadingZeros(range) <= bits)
      numbers.indices.sortBy(numbers(_)).toArray
    else {
      // Number and position fit into one.
      val keys = Array.tabulate(numbers.length)(i => (numbers(i) - least) << bits | i)
      Arrays.sort(keys)
      keys.map(key => (key & ((1L << bits) - 1)).toInt)
    }
  }
}
