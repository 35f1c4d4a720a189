package io.deltaupkeep.parquet.cut

import io.deltaupkeep.SideBySide

/** The order of rows along a curve. */
private[cut] object RowOrder {

  /** About the memory that the order takes for each row, besides the keys. */
  def bytesPerRow(keys: Int, threads: Int): Int = KeyRanks.BytesPerRow * math.min(keys, threads) + 4 * keys

  /**
   * The rows, by their numbers from 0 on, in the order of their places on the curve. Rows in one place keep their
   * order.
   *
   * @param keys of all rows
   */
  def of(keys: IndexedSeq[HeldRows], rows: Int, curve: Curve, threads: Int): Array[Int] = {
    val bits = Curve.bitsOf(keys.size)
    val ranks = SideBySide.map(keys, "delta-upkeep-ranks", threads)(KeyRanks.of(_, rows, bits)).toArray
    val places = new Array[Long](rows)
    val step = math.max(1, (rows + threads - 1) / threads)
    SideBySide.map(0 until rows by step, "delta-upkeep-curve", threads) { from =>
      place(ranks, curve, bits, places, from, math.min(rows.toLong, from.toLong + step).toInt)
    }
    val order = Array.range(0, rows)
    new RadixSort(rows).sort(places, order, 0, rows)
    order
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
    val interleaving = new Curve.Interleaving(ranks.length, bits)
    var row = from
    while (row < until) {
      var i = 0
      while (i < ofRow.length) {
        ofRow(i) = ranks(i)(row)
        i += 1
      }
      curve.bend(ofRow, bits)
      places(row) = interleaving(ofRow)
      row += 1
    }
  }
}
