package io.deltaupkeep.parquet.cut

/** How rows are put in order by their keys. */
sealed trait KeyOrder extends Serializable

/**
 * By the first key, those that are equal by the second one, and so on. Nulls are the smallest values.
 *
 * @param descending whether the largest value of a key comes first, for each key
 */
final case class Lexicographic(descending: IndexedSeq[Boolean]) extends KeyOrder

/** A curve through a space of ranks: rows that are near each other on it are near each other in each column. */
sealed trait Curve extends KeyOrder {

  private[cut] def placing(columns: Int, bits: Int): PlaceOnCurve
}

/** Finds the place on a curve of a row by its ranks, which it may change. No number becomes an object. */
private[cut] trait PlaceOnCurve {
  def of(ranks: Array[Int]): Long
}

object Curve {

  /** The bits of the ranks in turn. */
  case object ZOrder extends Curve {
    private[cut] override def placing(columns: Int, bits: Int): PlaceOnCurve = {
      val interleaving = new Interleaving(columns, bits)
      ranks => interleaving(ranks)
    }
  }

  /** Neighbours on the curve are neighbours in space (J. Skilling, 'Programming the Hilbert curve', 2004). */
  case object Hilbert extends Curve {
    private[cut] override def placing(columns: Int, bits: Int): PlaceOnCurve = {
      val interleaving = new Interleaving(columns, bits)
      if (columns < 2 || columns > HilbertSteps.MostColumns) { ranks =>
        bend(ranks, bits)
        interleaving(ranks)
      } else {
        val steps = new HilbertSteps(columns, bits)
        ranks => steps(interleaving(ranks))
      }
    }

    /** Turns the ranks of a row into numbers whose bits are interleaved into its place on the curve. */
    private[cut] def bend(ranks: Array[Int], bits: Int): Unit = {
      val last = ranks.length - 1
      // From the largest cubes to the smallest: each is turned or mirrored by the half in which the point is.
      var bit = 1 << (bits - 1)
      while (bit > 1) {
        val below = bit - 1
        var i = 0
        while (i <= last) {
          if ((ranks(i) & bit) != 0) ranks(0) ^= below
          else {
            val swapped = (ranks(0) ^ ranks(i)) & below
            ranks(0) ^= swapped
            ranks(i) ^= swapped
          }
          i += 1
        }
        bit >>= 1
      }
      // The numbers so far are Gray codes.
      var i = 1
      while (i <= last) {
        ranks(i) ^= ranks(i - 1)
        i += 1
      }
      var flips = 0
      bit = 1 << (bits - 1)
      while (bit > 1) {
        if ((ranks(last) & bit) != 0) flips ^= bit - 1
        bit >>= 1
      }
      i = 0
      while (i <= last) {
        ranks(i) ^= flips
        i += 1
      }
    }
  }

  /** As many bits as tell the values of all rows apart. */
  private[cut] val ExactBits = 31

  /** Bits of a rank: a single column is sorted, several are divided into cells of 65,536 ranges each, or fewer. */
  private[cut] def bitsOf(columns: Int): Int =
    if (columns == 1) ExactBits else math.max(1, math.min(16, 63 / columns))

  /** Interleaves the bits of ranks, the highest bit of the first one first. */
  private[cut] final class Interleaving(columns: Int, bits: Int) {
    // Columns beyond the 63rd have no bit left.
    private val used = math.min(columns, 63 / bits)
    private val spread = Array.tabulate(256)(byte =>
      (0 until 8).filter(bit => (byte >> bit & 1) == 1 && bit * used < 64).map(bit => 1L << (bit * used)).sum
    )

    def apply(ranks: Array[Int]): Long = {
      var result = 0L
      var i = 0
      while (i < used) {
        val place = used - 1 - i
        var from = 0
        while (from < bits) {
          val byte = ranks(i) >>> from & (if (bits - from >= 8) 0xff else (1 << (bits - from)) - 1)
          result |= spread(byte) << (from * used + place)
          from += 8
        }
        i += 1
      }
      result
    }
  }
}
