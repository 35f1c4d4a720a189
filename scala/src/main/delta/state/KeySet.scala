package org.apache.spark.sql.delta.upkeep.state

import java.util.concurrent.ThreadLocalRandom

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.types.UTF8String

/**
 * Keys of actions, each as a hash of 128 bits with a seed of its own in each run. That two of a hundred million files
 * have the same hash is less likely than 1 in 10^22. A key takes 21 to 43 bytes. Not thread-safe, but several threads may ask
 * for keys once all have been added.
 */
private[state] final class KeySet {
  import KeySet._

  private val (oneSeed, otherSeed) =
    (ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong())

  /** Two for each key, of which the first is 0 if there is none. */
  private var slots = new Array[Long](2 * FewKeys)
  private var count = 0L

  /** Whether the key was not there before. */
  def add(key: UTF8String): Boolean = {
    val (one, other) = (hash(key, oneSeed) | 1L, hash(key, otherSeed))
    val slot = slotOf(slots, one, other)
    val isNew = slots(slot) == 0
    if (isNew) {
      put(slots, slot, one, other)
      count += 1
      // Three quarters of them are full.
      if (8 * count > 3L * slots.length) grow()
    }
    isNew
  }

  def contains(key: UTF8String): Boolean =
    slots(slotOf(slots, hash(key, oneSeed) | 1L, hash(key, otherSeed))) != 0

  private def grow(): Unit = {
    val more = new Array[Long](Math.multiplyExact(2, slots.length))
    (0 until slots.length by 2).foreach { slot =>
      val (one, other) = (slots(slot), slots(slot + 1))
      if (one != 0) put(more, slotOf(more, one, other), one, other)
    }
    slots = more
  }
}

private object KeySet {
  private val FewKeys = 1 << 10

  private def hash(key: UTF8String, seed: Long): Long =
    XXH64.hashUnsafeBytes(key.getBaseObject, key.getBaseOffset, key.numBytes, seed)

  /** Where a hash is, or may be put. */
  private def slotOf(slots: Array[Long], one: Long, other: Long): Int = {
    // The number of slots is a power of two.
    val mask = slots.length / 2 - 1
    var at = (other & mask).toInt
    while (slots(2 * at) != 0 && !(slots(2 * at) == one && slots(2 * at + 1) == other)) at = (at + 1) & mask
    2 * at
  }

  private def put(slots: Array[Long], slot: Int, one: Long, other: Long): Unit = {
    slots(slot) = one
    slots(slot + 1) = other
  }
}
