package io.deltaupkeep.plan.compact

import io.deltaupkeep.parquet.file.Refusal

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BinSplitSuite extends AnyFunSuite with TableDrivenPropertyChecks with ScalaCheckPropertyChecks {

  private val needOf =
    Map('a' -> RewriteNeed.Alone, 't' -> RewriteNeed.Together, 'k' -> RewriteNeed.Kept)

  /** Files by their needs; those that are refused in upper case, and malformed ones with an exclamation mark. */
  private def partsOf(bin: String): (Seq[Int], Seq[Int], Seq[Int]) = {
    val files = bin.filter(_ != '!')
    val refused = files.indices.filter(files(_).isUpper).map { i =>
      val isMalformed = bin.lift(bin.indices.filter(bin(_) != '!')(i) + 1).contains('!')
      i -> Refusal(s"file $i", isMalformed)
    }
    val parts = BinSplit(files.toLowerCase.map(needOf)).parts(refused.toMap)
    (parts.spliced, parts.byRows, parts.left)
  }

  test("a bin is split where some of its files cannot be spliced") {
    val cases = Table[String, Seq[Int], Seq[Int], Seq[Int]](
      ("bin", "spliced", "by rows", "left"),
      ("ttt", Seq(0, 1, 2), Nil, Nil),
      ("tTt", Seq(0, 2), Nil, Seq(1)),
      ("tTtT", Seq(0, 2), Seq(1, 3), Nil),
      ("TT", Nil, Seq(0, 1), Nil),
      // Nothing to merge with, but files that this would be done to again
      ("kT", Nil, Nil, Seq(1)),
      ("kkT", Nil, Nil, Seq(2)),
      // The next run would splice the first one with the new file.
      ("tT", Nil, Seq(0, 1), Nil),
      ("tTT", Nil, Seq(0, 1, 2), Nil),
      ("kTT", Nil, Seq(1, 2), Nil),
      ("tKK", Nil, Seq(0, 1, 2), Nil),
      ("ttKK", Seq(0, 1), Nil, Seq(2, 3)),
      // Worth it alone
      ("aT", Seq(0), Nil, Seq(1)),
      ("ttA", Seq(0, 1), Seq(2), Nil),
      ("tA", Nil, Seq(0, 1), Nil),
      ("ttT!", Seq(0, 1), Seq(2), Nil),
      ("kkT!", Nil, Seq(2), Nil)
    )
    forAll(cases)((bin, spliced, rows, left) => assert(partsOf(bin) == ((spliced, rows, left)), bin))
  }

  test("no file is lost, and what is left and what is new needs no other run") {
    val bins = Gen.nonEmptyListOf(Gen.oneOf("a", "A", "t", "T", "k", "K", "T!")).map(_.mkString)
    forAll(bins) { bin =>
      val files = bin.filter(_ != '!')
      val (spliced, rows, left) = partsOf(bin)
      assert((spliced ++ rows ++ left).distinct.size == spliced.size + rows.size + left.size)
      assert(spliced.forall(files(_).isLower) && left.forall(files(_).isUpper))
      val used = (spliced ++ rows).toSet
      // New files have the tag of this run, and any reader can splice them.
      val after = Seq(spliced, rows).filter(_.nonEmpty).map(_ => 'k').mkString +
        files.indices.filterNot(used).map(files(_)).mkString
      if (!after.exists(_.isUpper)) assert(!BinSplit(after.map(needOf)).isWorthIt(after.indices), bin)
      else
        assert(partsOf(after) == ((Nil, Nil, after.indices.filter(after(_).isUpper))), s"$bin, then $after")
    }
  }

  test("pivots are the files without which the others are not worth it") {
    forAll { (files: Seq[Boolean], others: Seq[Boolean]) =>
      val needs = files.map(if (_) RewriteNeed.Alone else RewriteNeed.Kept) ++
        others.map(if (_) RewriteNeed.Together else RewriteNeed.Kept)
      val split = BinSplit(needs.toIndexedSeq)
      val found = needs.indices.filterNot(file => split.isWorthIt(needs.indices.filter(_ != file)))
      assert(split.pivots == found)
    }
  }

  test("a file without which the others are not worth it is known") {
    def pivots(files: String) = BinSplit(files.map(needOf)).pivots
    assert(
      pivots("tt") == Seq(0, 1) && pivots("kkt") == Seq(2) && pivots("ttt").isEmpty && pivots("a") == Seq(0)
    )
  }
}
