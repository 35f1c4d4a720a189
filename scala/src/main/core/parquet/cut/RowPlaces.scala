package io.deltaupkeep.parquet.cut

/**
 * The places of rows in a given order, and where their values are kept until they are taken: neighbours in the order are
 * kept near each other, in blocks that a processor's cache holds, and in a block as the inputs have them. So both to
 * write and to read them stays within few blocks at a time.
 *
 * @param order rows by their numbers in the inputs, in their new order
 */
private[parquet] final class RowPlaces(val order: Array[Int]) {
  import RowPlaces._

  private val rows = order.length

  val blocks: Int = (rows + BlockRows - 1) / BlockRows

  /** By row, where it is kept. */
  val kept: Array[Int] = new Array[Int](rows)

  /** By place in the order, where the row is kept. */
  val keptAt: Array[Int] = new Array[Int](rows)

  private def fill(): Unit = {
    var place = 0
    while (place < rows) {
      kept(order(place)) = blockOf(place)
      place += 1
    }
    val next = Array.tabulate(blocks)(_ << BlockBits)
    var row = 0
    while (row < rows) {
      val block = kept(row)
      kept(row) = next(block)
      next(block) += 1
      row += 1
    }
    place = 0
    while (place < rows) {
      keptAt(place) = kept(order(place))
      place += 1
    }
  }

  fill()
}

private[parquet] object RowPlaces {

  /** Memory for each row, with the order. */
  val BytesPerRow: Int = 12

  private val BlockBits = 15

  /** Rows of a block. */
  val BlockRows: Int = 1 << BlockBits

  /** The block of a place, or of where a row is kept. */
  def blockOf(place: Int): Int = place >>> BlockBits
}
