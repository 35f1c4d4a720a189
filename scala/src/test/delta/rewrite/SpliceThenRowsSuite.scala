package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.plan.compact.{Bin, DataFile, OddBin, Partition, RewrittenBin, RowsCause, Tier}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.delta.upkeep.rewrite.BinOutcome.{Left, NeedsRows, Odd, Written}

class SpliceThenRowsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def bin(name: String): Bin =
    Bin(
      Seq(DataFile(name, None, 1, 0, Partition.whole, Some(1), 0, None)),
      Tier.Rows("a test", RowsCause.File)
    )

  private def written(bin: Bin): WrittenBin =
    WrittenBin(RewrittenBin(bin, Nil, None, Nil), Nil, Placement.Unknown)

  private val spliced: Gen[Seq[BinOutcome]] = Gen.listOf(Gen.oneOf(0 to 3)).map(_.zipWithIndex.map {
    case (kind, i) =>
      val one = bin(s"f$i")
      Seq(Written(written(one)), NeedsRows(one), Left(one), Odd(OddBin(one, "a value")))(kind)
  })

  test("the rows tier is asked once, for all bins that need it, when the splice job has ended") {
    forAll(spliced, Gen.choose(0, 3)) { (outcomes, known) =>
      val results = outcomes.iterator
      val needRows = (0 until known).map(i => bin(s"known$i"))
      var asked = Seq.empty[Seq[Bin]]
      val all = new SpliceThenRows(
        results,
        needRows,
        bins => {
          assert(results.isEmpty)
          asked :+= bins
          bins.iterator.map(bin => Written(written(bin)))
        }
      ).toList
      val refused = outcomes.collect { case NeedsRows(bin) => bin }
      assert(asked == Seq(needRows ++ refused))
      val done = outcomes.collect { case outcome: BinOutcome.Final => outcome }
      assert(all == done ++ (needRows ++ refused).map(bin => Written(written(bin))))
    }
  }

  test("a written bin that nobody took is told") {
    val (first, second) = (written(bin("a")), written(bin("b")))
    val outcomes = new SpliceThenRows(Iterator(Written(first), Written(second)), Nil, _ => Iterator.empty)
    assert(outcomes.hasNext && outcomes.notTaken.contains(first))
    outcomes.next()
    assert(outcomes.notTaken.isEmpty)
    assert(outcomes.hasNext && outcomes.notTaken.contains(second))
  }

  test("the rows tier does nothing if the splice job fails") {
    val failing = Iterator.single(NeedsRows(bin("a"))) ++ Iterator.continually(sys.error("lost executor"))
    val outcomes = new SpliceThenRows(failing, Nil, _ => fail("asked"))
    intercept[RuntimeException](outcomes.hasNext)
    assert(outcomes.notTaken.isEmpty)
  }
}
