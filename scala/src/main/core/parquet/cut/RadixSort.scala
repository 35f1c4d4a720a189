package io.deltaupkeep.parquet.cut

import java.util.Arrays

/**
 * Sorts numbers that belong to keys by the keys, which are unsigned. Equal keys keep their order. Keys that differ in
 * few bits take few passes.
 *
 * @param size of the largest range that is sorted
 */
private[cut] final class RadixSort(size: Int) {
  import RadixSort._

  private val otherKeys = new Array[Long](size)
  private val otherItems = new Array[Int](size)
  private val starts = new Array[Int](1 << LongDigit)

  /** Sorts both arrays from `from` until `until`. */
  def sort(keys: Array[Long], items: Array[Int], from: Int, until: Int): Unit =
    if (until - from <= Few) insert(keys, items, from, until)
    else {
      val varying = bitsThatVary(keys, from, until)
      val bits = if (until - from < Many) ShortDigit else LongDigit
      val first = java.lang.Long.numberOfTrailingZeros(varying)
      val passes = (64 - java.lang.Long.numberOfLeadingZeros(varying) - first + bits - 1) / bits
      for (pass <- 0 until passes) {
        val shift = first + pass * bits
        if (pass % 2 == 0) move(keys, items, from, otherKeys, otherItems, 0, until - from, shift, bits)
        else move(otherKeys, otherItems, 0, keys, items, from, until - from, shift, bits)
      }
      if (passes % 2 == 1) {
        System.arraycopy(otherKeys, 0, keys, from, until - from)
        System.arraycopy(otherItems, 0, items, from, until - from)
      }
    }

  private def bitsThatVary(keys: Array[Long], from: Int, until: Int): Long = {
    var varying = 0L
    var i = from + 1
    while (i < until) {
      varying |= keys(i) ^ keys(from)
      i += 1
    }
    varying
  }

  private def insert(keys: Array[Long], items: Array[Int], from: Int, until: Int): Unit = {
    var i = from + 1
    while (i < until) {
      val key = keys(i)
      val item = items(i)
      var at = i
      while (at > from && java.lang.Long.compareUnsigned(keys(at - 1), key) > 0) {
        keys(at) = keys(at - 1)
        items(at) = items(at - 1)
        at -= 1
      }
      keys(at) = key
      items(at) = item
      i += 1
    }
  }

  /** One pass: moves `count` keys to where their digit at `shift` puts them. */
  private def move(
      keys: Array[Long],
      items: Array[Int],
      from: Int,
      toKeys: Array[Long],
      toItems: Array[Int],
      to: Int,
      count: Int,
      shift: Int,
      bits: Int
  ): Unit = {
    val digits = starts
    val mask = (1 << bits) - 1
    Arrays.fill(digits, 0, 1 << bits, 0)
    var i = from
    while (i < from + count) {
      digits((keys(i) >>> shift).toInt & mask) += 1
      i += 1
    }
    var start = to
    var digit = 0
    while (digit <= mask) {
      val ofDigit = digits(digit)
      digits(digit) = start
      start += ofDigit
      digit += 1
    }
    i = from
    while (i < from + count) {
      val key = keys(i)
      val at = digits((key >>> shift).toInt & mask)
      digits((key >>> shift).toInt & mask) = at + 1
      toKeys(at) = key
      toItems(at) = items(i)
      i += 1
    }
  }
}

private[cut] object RadixSort {

  /** Bytes of memory for each key, with the keys and the items. */
  val BytesPerKey: Int = 24

  /** So few are sorted by insertion. */
  private val Few = 32

  /** Bits of a digit, for few keys and for many. */
  private val ShortDigit = 8
  private val LongDigit = 11
  private val Many = 1 << 14
}
