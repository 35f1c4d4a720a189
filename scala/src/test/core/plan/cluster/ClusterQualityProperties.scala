package io.deltaupkeep.plan.cluster

import io.deltaupkeep.FileTotal
import io.deltaupkeep.plan.compact.Partition
import io.deltaupkeep.stats.{KeyBounds, KeyRange}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ClusterQualityProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val Ranks = 40
  private val Error = 1e-9

  private val ranges: Gen[KeyRange] = Gen.frequency(
    8 -> Gen.listOfN(2, Gen.choose(0, Ranks - 1)).map(ends => KeyRange.Between(ends.min, ends.max)),
    1 -> KeyRange.NoValues,
    1 -> KeyRange.Unknown
  )

  private val files: Gen[IndexedSeq[(KeyRange, Long)]] =
    Gen.nonEmptyListOf(Gen.zip(ranges, Gen.choose(0L, 100L))).map(_.toIndexedSeq)

  private def holds(range: KeyRange, rank: Int): Boolean = range match {
    case KeyRange.Between(low, high) => low <= rank && rank <= high
    case KeyRange.NoValues => false
    case KeyRange.Unknown => true
  }

  test("the index finds what a look at each file finds") {
    forAll(files) { files =>
      val index = new RangeIndex(files)
      for (rank <- 0 until Ranks)
        assert(index.at(rank) == FileTotal.of(files.collect {
          case (range, bytes) if holds(range, rank) => bytes
        }))
      for (low <- 0 until Ranks; high <- low until Ranks) {
        val meeting = files.count { case (range, _) => (low to high).exists(holds(range, _)) }
        assert(index.meeting(low, high) == meeting)
        if (files.exists(_._1 == KeyRange.Between(low, high)))
          assert(index.deepest(low, high) == (low to high).map(index.at(_).files).max)
      }
    }
  }

  private def partition(i: Int): Partition = Partition(Seq(Some(s"$i")))(s"p=$i")

  private def qualityOf(files: IndexedSeq[(KeyRange, Long)], partitionOf: Int => Partition): KeyQuality = {
    val clustered = files.zipWithIndex.map { case ((_, bytes), i) =>
      ClusteredFile(partitionOf(i), bytes, ClusteredBy.Nothing)
    }
    val bounds = KeyBounds(files.map(_._1), (0 until Ranks).map(_.toString))
    ClusterQuality.of(clustered, Seq("k" -> bounds)).keys.head
  }

  test("a query opens no more than all files, and at least one that has the value") {
    forAll(files) { files =>
      val quality = qualityOf(files, _ => Partition.whole)
      val hasValues = files.exists { case (range, bytes) => range != KeyRange.NoValues && bytes > 0 }
      if (hasValues) {
        assert(quality.depth >= 1 - Error && quality.depth <= files.size + Error)
        assert(quality.opened <= 1 + Error)
        assert(quality.overlap >= quality.depth - 1 - Error)
      } else assert(quality.depth == 0)
    }
  }

  test("partitions that are alike are as good together as each alone") {
    forAll(files) { files =>
      val one = qualityOf(files, _ => partition(0))
      val two = qualityOf(files ++ files, i => partition(i / files.size))
      assert((one.depth - two.depth).abs < Error)
      assert((one.overlap - two.overlap).abs < Error)
      assert((one.opened - two.opened).abs < Error)
    }
  }

  test("files in order are opened one by one, and files with all values all at once") {
    forAll(Gen.choose(1, Ranks / 2)) { count =>
      val inOrder = (0 until count).map(i => (KeyRange.Between(2 * i, 2 * i + 1): KeyRange) -> 10L)
      val mixed = (0 until count).map(i => (KeyRange.Between(i, Ranks - 1 - i): KeyRange) -> 10L)
      val (good, bad) = (qualityOf(inOrder, _ => Partition.whole), qualityOf(mixed, _ => Partition.whole))
      assert((good.depth, good.overlap) == ((1d, 0d)))
      assert((bad.depth, bad.overlap, bad.opened) == ((count.toDouble, count - 1d, 1d)))
    }
  }

  test("a profile shows some values in their order, the first and the last among them") {
    val files = IndexedSeq[(KeyRange, Long)](KeyRange.Between(0, 5) -> 10L, KeyRange.Between(5, 39) -> 20L)
    val profile = qualityOf(files, _ => Partition.whole).profile
    assert(profile.head == ("0" -> FileTotal(1, 10)) && profile.last == ("39" -> FileTotal(1, 20)))
    assert(profile.size == ClusterQuality.ProfileValues)
    assert(profile.map(_._1.toInt) == profile.map(_._1.toInt).sorted.distinct)
  }
}
