package io.deltaupkeep.parquet.cut

import io.deltaupkeep.SideBySide

/** The order of rows by their keys. */
private[parquet] object RowOrder {

  /** About the memory that the order takes for each row, besides the keys. */
  def bytesPerRow(keys: Int, threads: Int): Int = KeyRanks.BytesPerRow * math.min(keys, threads) + 4 * keys

  /**
   * The rows, by their numbers from 0 on, in order. Rows with equal keys, or in one place on a curve, keep their order.
   *
   * @param keys of all rows
   */
  def of(keys: IndexedSeq[HeldRows], rows: Int, order: KeyOrder, threads: Int): Array[Int] = {
    def ranks(bits: Int) =
      SideBySide.map(keys, "delta-upkeep-ranks", threads)(KeyRanks.of(_, rows, bits, threads)).toArray
    order match {
      case curve: Curve =>
        val bits = Curve.bitsOf(keys.size)
        along(ranks(bits), rows, curve, bits, threads)
      case Lexicographic(descending) => sorted(ranks(Curve.ExactBits), rows, descending, threads)
    }
  }

  /** By the last key first: later passes keep the order of rows that are equal. */
  private def sorted(
      ranks: Array[Array[Int]],
      rows: Int,
      descending: IndexedSeq[Boolean],
      threads: Int
  ): Array[Int] = {
    val order = Array.range(0, rows)
    val keys = new Array[Long](rows)
    val sort = new RadixSort(rows, threads)
    for (key <- ranks.indices.reverse) {
      val ofRow = ranks(key)
      // Its complement has the bits of a rank too.
      val flips = if (descending(key)) Int.MaxValue else 0
      var i = 0
      while (i < rows) {
        keys(i) = (ofRow(order(i)) ^ flips).toLong
        i += 1
      }
      sort.sort(keys, order, 0, rows)
    }
    order
  }

  private def along(
      ranks: Array[Array[Int]],
      rows: Int,
      curve: Curve,
      bits: Int,
      threads: Int
  ): Array[Int] = {
    val order = Array.range(0, rows)
    new RadixSort(rows, threads).sort(places(ranks, rows, curve, bits, threads), order, 0, rows)
    order
  }

  /** The places of rows on a curve, by their ranks. */
  def places(
      ranks: Array[Array[Int]],
      rows: Int,
      curve: Curve,
      bits: Int,
      threads: Int
  ): Array[Long] = {
    val places = new Array[Long](rows)
    val step = math.max(1, (rows + threads - 1) / threads)
    SideBySide.map(0 until rows by step, "delta-upkeep-curve", threads) { from =>
      place(ranks, curve, bits, places, from, math.min(rows.toLong, from.toLong + step).toInt)
    }
    places
  }

  private def place(
      ranks: Array[Array[Int]],
      curve: Curve,
      bits: Int,
      places: Array[Long],
      from: Int,
      until: Int
  ): Unit = {
    val ofRow = new Array[Int](ranks.length)
    val placing = curve.placing(ranks.length, bits)
    var row = from
    while (row < until) {
      var i = 0
      while (i < ofRow.length) {
        ofRow(i) = ranks(i)(row)
        i += 1
      }
      places(row) = placing.of(ofRow)
      row += 1
    }
  }
}
