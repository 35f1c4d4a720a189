package io.deltaupkeep.parquet.cut

import io.deltaupkeep.SideBySide

/**
 * Divides rows into ranges that follow each other in an order, of about as many rows each, by a sample of their keys. Rows at
 * a bound may go to either side of it, so a value that many rows have does not make a range larger.
 *
 * @param cuts    of each key
 * @param numbers by key and position among its cuts: what the place of a row is made of
 * @param bounds  places where a range ends and the next one begins
 * @param isExact whether rows at one place are equal, or in one cell of a curve
 */
final class RowRanges private (
    cuts: IndexedSeq[KeyCuts],
    numbers: IndexedSeq[Array[Int]],
    placing: Placing,
    bounds: IndexedSeq[RowRanges.Bound],
    isExact: Boolean
) extends Serializable {
  import RowRanges._

  private val places = bounds.map(_.place).toArray

  def count: Int = places.length + 1

  /**
   * The range of each row.
   *
   * @param keys  of all rows
   * @param part  of the rows that are divided, from 0 on: at a bound, the first parts go to the first ranges
   * @param parts their number
   */
  private[parquet] def of(
      keys: IndexedSeq[HeldRows],
      rows: Int,
      part: Int,
      parts: Int,
      threads: Int
  ): Array[Int] = if (rows == 0) Array.emptyIntArray
  else {
    val ofRows = SideBySide.map(cuts.indices, "delta-upkeep-ranges", threads) { key =>
      val ofKey = cuts(key).positions(keys(key), rows)
      var row = 0
      while (row < rows) {
        ofKey(row) = numbers(key)(ofKey(row))
        row += 1
      }
      ofKey
    }
    val at = placing.places(ofRows.toArray, rows, threads)
    val share = (part + 0.5) / parts
    Array.tabulate(rows)(row => rangeOf(at(row), share))
  }

  private def rangeOf(place: Long, share: Double): Int = {
    val first = firstFrom(places, place)
    if (!isExact || first == places.length || places(first) != place) first
    else {
      val last = firstFrom(places, place + 1)
      val bound = bounds(first)
      math.max(first, math.min(last, (bound.from + (bound.until - bound.from) * share).toInt))
    }
  }
}

object RowRanges {

  /**
   * A bound.
   *
   * @param from  how many ranges, with fractions, the rows before this place fill
   * @param until the same with the rows at this place
   */
  private[cut] final case class Bound(place: Long, from: Double, until: Double)

  /** @param count of the ranges */
  def of(samples: Seq[KeySample], order: KeyOrder, count: Int): RowRanges = {
    val rows = samples.iterator.flatMap(_.drawn).toIndexedSeq
    val weights =
      samples.flatMap(sample => Seq.fill(sample.drawn.length)(sample.rows.toDouble / sample.drawn.length)).toArray
    order match {
      case curve: Curve => along(curve, rows, weights, count)
      case Lexicographic(descending) => sorted(descending, rows, weights, count)
    }
  }

  private type Keys = Array[Array[Long]]

  private def along(
      curve: Curve,
      rows: IndexedSeq[Keys],
      weights: Array[Double],
      count: Int
  ): RowRanges = {
    val columns = rows.headOption.fold(1)(_.length)
    val bits = Curve.bitsOf(columns)
    // All tasks get them.
    val cuts =
      (0 until columns).map(key =>
        KeyCuts.of(rows.map(row => Option(row(key)).map(_.take(CurveWords)).orNull))
      )
    val numbers = cuts.indices.map(key => ranks(cuts(key), rows.map(_(key)), weights, bits))
    ranged(cuts, numbers, new AlongCurve(curve, bits), rows, weights, count, isExact = true) { places =>
      rows.indices.sortBy(places(_))
    }
  }

  /** By position, the share of rows with a smaller value, as a number of `bits` bits. */
  private def ranks(
      cuts: KeyCuts,
      values: IndexedSeq[Array[Long]],
      weights: Array[Double],
      bits: Int
  ): Array[Int] = {
    val below = new Array[Double](cuts.last + 2)
    values.indices.foreach(i => below(cuts.position(values(i)) + 1) += weights(i))
    for (position <- 1 until below.length) below(position) += below(position - 1)
    val (all, most) = (below.last, (1L << bits) - 1)
    Array.tabulate(cuts.last + 1)(position =>
      math.min(most, (below(position) / all * (1L << bits)).toLong).toInt
    )
  }

  /** Only the values at bounds matter here, and exactly. */
  private def sorted(
      descending: IndexedSeq[Boolean],
      rows: IndexedSeq[Keys],
      weights: Array[Double],
      count: Int
  ): RowRanges = {
    val inOrder = rows.indices.sorted(new Ordering[Int] {
      override def compare(one: Int, other: Int): Int = compareKeys(rows(one), rows(other), descending)
    })
    val atBounds = boundRows(filled(inOrder, weights, count), count).map(inOrder)
    val all = descending.indices.map(key => KeyCuts.of(atBounds.map(rows(_)(key))))
    // There are few bounds, so keys after the last one that has room are seldom of use.
    val used = all.scanLeft(0)((bits, cuts) => bits + bitsOf(cuts.last)).tail.takeWhile(_ <= MostBits).size
    val cuts = all.take(used)
    val numbers = cuts.indices.map { key =>
      val last = cuts(key).last
      Array.tabulate(last + 1)(position => if (descending(key)) last - position else position)
    }
    ranged(
      cuts,
      numbers,
      new Packed(cuts.map(ofKey => bitsOf(ofKey.last))),
      rows,
      weights,
      count,
      used == all.size
    ) { _ =>
      // In the order of places alone, sums could be rounded otherwise, and rows beside those bounds be taken.
      inOrder
    }
  }

  private def compareKeys(one: Keys, other: Keys, descending: IndexedSeq[Boolean]): Int = {
    var key = 0
    var found = 0
    while (found == 0 && key < descending.size) {
      val order = KeyCuts.compare(one(key), other(key))
      found = if (descending(key)) -order else order
      key += 1
    }
    found
  }

  /** @param order the rows in their order, by their places */
  private def ranged(
      cuts: IndexedSeq[KeyCuts],
      numbers: IndexedSeq[Array[Int]],
      placing: Placing,
      rows: IndexedSeq[Keys],
      weights: Array[Double],
      count: Int,
      isExact: Boolean
  )(order: Array[Long] => IndexedSeq[Int]): RowRanges = {
    val ofKeys =
      cuts.indices.map(key => rows.iterator.map(row => numbers(key)(cuts(key).position(row(key)))).toArray)
    val places = placing.places(ofKeys.toArray, rows.size, threads = 1)
    val inOrder = order(places)
    val sorted = inOrder.iterator.map(places(_)).toArray
    val fills = filled(inOrder, weights, count)
    val bounds = boundRows(fills, count).map { at =>
      val place = sorted(at)
      Bound(place, fills(firstFrom(sorted, place)), fills(firstFrom(sorted, place + 1)))
    }
    new RowRanges(cuts, numbers, placing, bounds, isExact)
  }

  /** How many ranges the rows before each one fill, with fractions, and at the end all rows. */
  private def filled(inOrder: IndexedSeq[Int], weights: Array[Double], count: Int): Array[Double] = {
    val before = inOrder.iterator.map(weights(_)).scanLeft(0d)(_ + _).toArray
    before.map(_ / before.last * count)
  }

  /** The rows, by their position in the order, at which ranges end. */
  private def boundRows(filled: Array[Double], count: Int): IndexedSeq[Int] =
    if (filled.length < 2) IndexedSeq.empty
    else {
      var at = 0
      (1 until count).map { range =>
        while (at < filled.length - 2 && filled(at + 1) <= range) at += 1
        at
      }
    }

  /** The first position of a sorted array whose value is not below. */
  private def firstFrom(sorted: Array[Long], value: Long): Int = {
    var (from, until) = (0, sorted.length)
    while (from < until) {
      val middle = (from + until) >>> 1
      if (sorted(middle) < value) from = middle + 1 else until = middle
    }
    from
  }

  private def bitsOf(number: Int): Int = 32 - Integer.numberOfLeadingZeros(number)

  /** Words of a value that tell cells of a curve apart. */
  private val CurveWords = 16

  /** Places are not negative. */
  private val MostBits = 63
}

/** Makes places of the numbers that rows have for their keys. */
private[cut] sealed trait Placing extends Serializable {
  def places(numbers: Array[Array[Int]], rows: Int, threads: Int): Array[Long]
}

private[cut] final class AlongCurve(curve: Curve, bits: Int) extends Placing {
  override def places(numbers: Array[Array[Int]], rows: Int, threads: Int): Array[Long] =
    RowOrder.places(numbers, rows, curve, bits, threads)
}

/** The numbers of the keys one after the other. */
private[cut] final class Packed(bits: IndexedSeq[Int]) extends Placing {
  override def places(numbers: Array[Array[Int]], rows: Int, threads: Int): Array[Long] = {
    val places = new Array[Long](rows)
    for (key <- bits.indices) {
      val (ofKey, width) = (numbers(key), bits(key))
      var row = 0
      while (row < rows) {
        places(row) = places(row) << width | ofKey(row)
        row += 1
      }
    }
    places
  }
}
