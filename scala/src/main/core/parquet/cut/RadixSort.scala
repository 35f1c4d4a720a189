package io.deltaupkeep.parquet.cut

import java.util.Arrays

import io.deltaupkeep.SideBySide

/**
 * Sorts numbers that belong to keys by the keys, which are unsigned. Equal keys keep their order. Keys that differ in
 * few bits take few passes.
 *
 * @param size    of the largest range that is sorted
 * @param threads that sort a long range together
 */
private[cut] final class RadixSort(size: Int, threads: Int = 1) {
  import RadixSort._

  private val otherKeys = new Array[Long](size)
  private val otherItems = new Array[Int](size)
  private val ownDigits = new Array[Int](1 << LongDigit)

  /** Sorts both arrays from `from` until `until`. */
  def sort(keys: Array[Long], items: Array[Int], from: Int, until: Int): Unit =
    if (until - from <= Few) insert(keys, items, from, until)
    else {
      val varying = bitsThatVary(keys, from, until)
      val first = java.lang.Long.numberOfTrailingZeros(varying)
      val end = 64 - java.lang.Long.numberOfLeadingZeros(varying)
      if (threads > 1 && until - from >= ForThreads && end - first > LongDigit)
        sortTogether(keys, items, from, until, first, end)
      else if (
        !sortByDigits(keys, items, from, otherKeys, otherItems, 0, until - from, first, end, ownDigits)
      ) {
        System.arraycopy(otherKeys, 0, keys, from, until - from)
        System.arraycopy(otherItems, 0, items, from, until - from)
      }
    }

  /**
   * Divides the keys by their highest digit, each thread a segment of them, and then sorts what has the same digit: it is
   * little, and stays in a processor's cache.
   */
  private def sortTogether(
      keys: Array[Long],
      items: Array[Int],
      from: Int,
      until: Int,
      first: Int,
      end: Int
  ): Unit = {
    val shift = end - LongDigit
    val segments = (0 until threads).map { i =>
      val ofSegment = (i: Int) => (from + (until - from).toLong * i / threads).toInt
      (ofSegment(i), ofSegment(i + 1))
    }
    val counts = SideBySide.map(segments, Name, threads) { case (start, stop) =>
      val digits = new Array[Int](1 << LongDigit)
      count(keys, start, stop, shift, digits)
      digits
    }
    val starts = new Array[Int]((1 << LongDigit) + 1)
    var at = 0
    for (digit <- 0 until (1 << LongDigit)) {
      starts(digit) = at
      counts.foreach { ofSegment =>
        val here = ofSegment(digit)
        ofSegment(digit) = at
        at += here
      }
    }
    starts(1 << LongDigit) = at
    SideBySide.map(segments.zip(counts), Name, threads) { case ((start, stop), digits) =>
      scatter(keys, items, start, stop, otherKeys, otherItems, shift, LongDigit, digits)
    }
    // Several for each thread, as some digits have more keys than others.
    val groups = (0 until (1 << LongDigit)).grouped(math.max(1, (1 << LongDigit) / (8 * threads))).toSeq
    SideBySide.map(groups, Name, threads) { group =>
      val digits = new Array[Int](1 << LongDigit)
      group.foreach(digit =>
        finish(keys, items, from, starts(digit), starts(digit + 1), first, shift, digits)
      )
    }
    ()
  }

  /** Sorts keys with the same highest digit, from the other arrays into these. */
  private def finish(
      keys: Array[Long],
      items: Array[Int],
      from: Int,
      start: Int,
      stop: Int,
      first: Int,
      end: Int,
      digits: Array[Int]
  ): Unit = {
    val count = stop - start
    if (
      count <= Few ||
      sortByDigits(otherKeys, otherItems, start, keys, items, from + start, count, first, end, digits)
    ) {
      System.arraycopy(otherKeys, start, keys, from + start, count)
      System.arraycopy(otherItems, start, items, from + start, count)
    }
    if (count <= Few) insert(keys, items, from + start, from + stop)
  }

  /**
   * Sorts keys by the bits from `first` until `end`, digit by digit from the lowest, back and forth between two arrays.
   *
   * @return whether they end where they were
   */
  private def sortByDigits(
      keys: Array[Long],
      items: Array[Int],
      from: Int,
      toKeys: Array[Long],
      toItems: Array[Int],
      to: Int,
      length: Int,
      first: Int,
      end: Int,
      digits: Array[Int]
  ): Boolean = {
    val bits = if (length < Many) ShortDigit else LongDigit
    // Where all are equal, no bit is the first.
    val passes = math.max(0, (end - first + bits - 1) / bits)
    for (pass <- 0 until passes) {
      val shift = first + pass * bits
      // Higher bits are equal, or sorted already.
      val width = math.min(bits, end - shift)
      if (pass % 2 == 0) move(keys, items, from, toKeys, toItems, to, length, shift, width, digits)
      else move(toKeys, toItems, to, keys, items, from, length, shift, width, digits)
    }
    passes % 2 == 0
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

  /** One pass: moves keys to where their digit at `shift` puts them. */
  private def move(
      keys: Array[Long],
      items: Array[Int],
      from: Int,
      toKeys: Array[Long],
      toItems: Array[Int],
      to: Int,
      length: Int,
      shift: Int,
      bits: Int,
      digits: Array[Int]
  ): Unit = {
    val values = 1 << bits
    Arrays.fill(digits, 0, values, 0)
    count(keys, from, from + length, shift, digits, values - 1)
    var start = to
    var digit = 0
    while (digit < values) {
      val ofDigit = digits(digit)
      digits(digit) = start
      start += ofDigit
      digit += 1
    }
    scatter(keys, items, from, from + length, toKeys, toItems, shift, bits, digits)
  }

  private def count(
      keys: Array[Long],
      from: Int,
      until: Int,
      shift: Int,
      digits: Array[Int],
      mask: Int = (1 << LongDigit) - 1
  ): Unit = {
    var i = from
    while (i < until) {
      digits((keys(i) >>> shift).toInt & mask) += 1
      i += 1
    }
  }

  /** @param next where the next key with a digit goes */
  private def scatter(
      keys: Array[Long],
      items: Array[Int],
      from: Int,
      until: Int,
      toKeys: Array[Long],
      toItems: Array[Int],
      shift: Int,
      bits: Int,
      next: Array[Int]
  ): Unit = {
    val mask = (1 << bits) - 1
    var i = from
    while (i < until) {
      val key = keys(i)
      val digit = (key >>> shift).toInt & mask
      val at = next(digit)
      next(digit) = at + 1
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

  /** For less, threads do not pay. */
  private val ForThreads = 1 << 18
  private val Name = "delta-upkeep-sort"
}
