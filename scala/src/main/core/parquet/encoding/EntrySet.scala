package io.deltaupkeep.parquet.encoding

/** A subset of a dictionary's entries, one bit each. Storage is reused by the next page: see [[set]]. */
private[parquet] final class EntrySet {

  private var bits = Array.emptyLongArray
  private var entries = 0

  /** Sets it to the entries that the first `count` ids refer to, in a dictionary of `size` entries. */
  def set(ids: Array[Int], count: Int, size: Int): Unit = {
    entries = size
    if (bits.length < words) bits = new Array[Long](2 * words)
    if (words == 1) bits(0) = bitsOf(ids, count)
    else {
      java.util.Arrays.fill(bits, 0, words, 0L)
      val to = bits
      var i = 0
      while (i < count) {
        to(ids(i) >>> 6) |= 1L << ids(i)
        i += 1
      }
    }
  }

  /** For ids below 64: in a register, because updates of one word in memory wait for each other. */
  private def bitsOf(ids: Array[Int], count: Int): Long = {
    var found = 0L
    var i = 0
    while (i < count) {
      found |= 1L << ids(i)
      i += 1
    }
    found
  }

  /** Calls `run` with the start and end of each run of adjacent entries, in order. */
  def foreachRun(run: (Int, Int) => Unit): Unit = {
    var start = next(0, isIn = true)
    while (start < entries) {
      val end = next(start, isIn = false)
      run(start, end)
      start = next(end, isIn = true)
    }
  }

  private def words: Int = (entries + 63) >>> 6

  /** The first entry from `from` on that is (or is not) in the set; the number of entries if there is none. */
  private def next(from: Int, isIn: Boolean): Int = {
    val flip = if (isIn) 0L else -1L
    var word = from >>> 6
    var found = if (word < words) (bits(word) ^ flip) & (-1L << from) else 0L
    while (found == 0 && word + 1 < words) {
      word += 1
      found = bits(word) ^ flip
    }
    if (found == 0) entries
    else math.min(entries, (word << 6) + java.lang.Long.numberOfTrailingZeros(found))
  }
}
