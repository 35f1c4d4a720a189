package io.deltaupkeep.plan.cluster

import io.deltaupkeep.parquet.cut.{Curve, KeyOrder, Lexicographic}
import io.deltaupkeep.plan.compact.Partition
import io.deltaupkeep.stats.KeyRange

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ClusterForecastProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val byTwo = Lexicographic(IndexedSeq(false, true))

  /** The share before, and after all files are put in order together. */
  private def opened(order: KeyOrder, key: Int, ranges: Seq[KeyRange], outputs: Long): (Double, Double) =
    new ClusterForecast(ranges.map(_ => Partition.whole -> 100L).toIndexedSeq, order, keys = 2)
      .opened(key, ranges.toIndexedSeq, Seq(OrderedBin(ranges.indices, outputs)))

  private val everywhere = Seq.fill(8)(KeyRange.Between(0, 5))

  for (
    (what, order, key, outputs, expected) <- Seq(
      ("the first key of a sort", byTwo, 0, 20L, 1d / 20),
      ("the second key of a sort", byTwo, 1, 20L, 1d),
      ("a Z-order", Curve.ZOrder, 1, 16L, 1d / 4),
      ("a Hilbert curve", Curve.Hilbert, 0, 100L, 1d / 10),
      ("one file", Curve.Hilbert, 0, 1L, 1d)
    )
  ) test(s"files that overlap are told apart by $what") {
    val (before, after) = opened(order, key, everywhere, outputs)
    assert(before == 1 && (after - expected).abs < 1e-9)
  }

  test("files that hold one value each, or none, are opened as they are") {
    val apart = (0 until 10).map(i => KeyRange.Between(i, i))
    val (before, after) = opened(byTwo, 0, apart, outputs = 10)
    assert(before == 0.1 && after >= 0.1 && after <= 0.2)
    assert(opened(byTwo, 0, Seq.fill(3)(KeyRange.Between(4, 4)), outputs = 3) == (1d -> 1d))
    assert(opened(byTwo, 0, Seq.fill(3)(KeyRange.NoValues), outputs = 3) == (0d -> 0d))
  }

  test("shares are shares, and files that are left alone are opened as before") {
    val range = Gen.frequency(
      8 -> Gen.listOfN(2, Gen.choose(0, 30)).map(ends => KeyRange.Between(ends.min, ends.max)),
      1 -> KeyRange.NoValues,
      1 -> KeyRange.Unknown
    )
    val files = Gen.nonEmptyListOf(Gen.zip(range, Gen.choose(0L, 1L << 40), Gen.choose(0, 2)))
    val orders = Gen.oneOf(byTwo, Curve.ZOrder)
    forAll(files, orders, Gen.choose(1L, 1L << 20), Gen.choose(0, 1)) { (files, order, outputs, key) =>
      val placed = files.map { case (_, bytes, p) => Partition(Seq(Some(s"$p")))(s"p=$p") -> bytes }
      val forecast = new ClusterForecast(placed.toIndexedSeq, order, keys = 2)
      val ranges = files.map(_._1).toIndexedSeq
      val bins = ranges.indices.groupBy(placed(_)._1).values.map(OrderedBin(_, outputs)).toSeq
      for (some <- Seq(bins, bins.take(1), Nil)) {
        val (before, after) = forecast.opened(key, ranges, some)
        assert(before >= 0 && before <= 1 + 1e-9 && after >= 0 && after <= 1 + 1e-9)
        if (some.isEmpty) assert(before == after)
      }
    }
  }
}
