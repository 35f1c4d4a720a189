package io.deltaupkeep.parquet.cut

/** Ranks the values of a column. */
private[cut] object KeyRanks {

  /** Most memory for each row, besides the column: to sort its values, to number and to count them. */
  val BytesPerRow: Int = RadixSort.BytesPerKey + 16

  /**
   * The rank of each row: the share of rows with a smaller value, as a number of `bits` bits. Nulls are the smallest.
   * Equal values have equal ranks, so each rank has about as many rows, unless one value has more.
   *
   * @param key a column outside lists
   */
  def of(key: HeldRows, rows: Int, bits: Int, threads: Int): Array[Int] = {
    val groups = groupsOf(key, threads)
    val ranks = new Array[Int](rows)
    val counts = new Array[Long](groups.count + 1)
    var row = 0
    while (row < rows) {
      counts(groups.of(key.slots(row)) + 1) += 1
      row += 1
    }
    // Now how many rows have a smaller value.
    var before = 0L
    var group = 0
    while (group <= groups.count) {
      val here = counts(group)
      before += here
      counts(group) = before
      group += 1
    }
    row = 0
    while (row < rows) {
      ranks(row) = ((counts(groups.of(key.slots(row))) << bits) / rows).toInt
      row += 1
    }
    ranks
  }

  /** Equal values, by number in ascending order; nulls are 0. */
  private final class Groups(ofEntry: Array[Int], val count: Int) {
    def of(slot: Int): Int = if (slot < 0) 0 else ofEntry(slot)
  }

  private def groupsOf(key: HeldRows, threads: Int): Groups = {
    val size = key.entries.size
    val words = ValueWords.of(key.column.getPrimitiveType, key.entries)
    val keys = new Array[Long](size)
    val entries = Array.range(0, size)
    val sort = new RadixSort(size, threads)
    val groups = new Array[Int](size)
    var group = 0

    /** Values that are equal up to a word are sorted by that word, then those that are still equal by the next one. */
    def sortFrom(at: Int, from: Int, until: Int): Unit = {
      var goesOn = false
      var i = from
      while (i < until) {
        keys(i) = words.word(entries(i), at)
        goesOn ||= words.words(entries(i)) > at + 1
        i += 1
      }
      sort.sort(keys, entries, from, until)
      // Keys are overwritten below.
      val ends = if (goesOn) runsOf(keys, from, until) else null
      if (goesOn) {
        var start = from
        ends.foreach { end =>
          if (end - start > 1 && (start until end).exists(i => words.words(entries(i)) > at + 1))
            sortFrom(at + 1, start, end)
          else number(start, end, isSame = true)
          start = end
        }
      } else number(from, until, isSame = false)
    }

    /** Numbers sorted values. */
    def number(from: Int, until: Int, isSame: Boolean): Unit = {
      var i = from
      while (i < until) {
        if (i == from || !isSame && keys(i) != keys(i - 1)) group += 1
        groups(entries(i)) = group
        i += 1
      }
    }

    if (size > 0) sortFrom(0, 0, size)
    new Groups(groups, group + 1)
  }

  /** Where each run of equal keys ends. */
  private def runsOf(keys: Array[Long], from: Int, until: Int): Array[Int] = {
    val ends = Array.newBuilder[Int]
    var i = from + 1
    while (i <= until) {
      if (i == until || keys(i) != keys(i - 1)) ends += i
      i += 1
    }
    ends.result()
  }
}
