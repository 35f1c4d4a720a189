package io.deltaupkeep.optimize

import java.util.BitSet

import scala.collection.mutable

import io.deltaupkeep.optimize.Since.{Hidden, Removed, Unchanged}
import io.deltaupkeep.parquet.footer.RowSelection

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class LateDeletionsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def selection(rows: Iterable[Int]): RowSelection = {
    val gone = new BitSet()
    rows.foreach(gone.set)
    new RowSelection(gone)
  }

  private def input(stored: Int, leftOut: Set[Int], since: Since): MergedInput =
    MergedInput(stored - leftOut.size, () => selection(leftOut), since)

  private def hidden(rows: Int*): Since = Hidden(() => selection(rows))

  /** Runs of the new file's rows, or None where the changes are not to be told. */
  private def found(inputs: MergedInput*): Option[Seq[(Long, Long)]] = {
    val runs = mutable.ArrayBuffer.empty[(Long, Long)]
    if (LateDeletions.find(inputs)((from, until) => runs += from -> until)) Some(runs.toSeq) else None
  }

  private val three = input(3, Set.empty, Unchanged)

  for (
    (what, inputs, expected) <- Seq[(String, Seq[MergedInput], Option[Seq[(Long, Long)]])](
      ("nothing", Seq(three), Some(Nil)),
      (
        "the example",
        Seq(input(5, Set(1), hidden(1, 3)), input(3, Set.empty, hidden(0))),
        Some(Seq(2L -> 3L, 4L -> 5L))
      ),
      ("all rows of an input", Seq(three, input(3, Set.empty, hidden(0, 1, 2)), three), Some(Seq(3L -> 6L))),
      (
        "a run across rows left out",
        Seq(input(6, Set(2, 3), hidden(1, 2, 3, 4))),
        Some(Seq(1L -> 2L, 2L -> 3L))
      ),
      ("the same rows in another vector", Seq(input(4, Set(0, 2), hidden(0, 2))), Some(Nil)),
      ("the last row", Seq(input(4, Set(0), hidden(0, 3))), Some(Seq(2L -> 3L))),
      ("an input that is gone", Seq(three, input(3, Set(1), Removed), three), Some(Seq(3L -> 5L))),
      ("an input that is gone, with no row in the file", Seq(input(2, Set(0, 1), Removed), three), Some(Nil)),
      ("inputs that are gone, of most rows", Seq(three, input(4, Set.empty, Removed)), None),
      ("no input left", Seq(input(2, Set(0, 1), Removed)), None),
      ("a row that is there again", Seq(input(4, Set(1, 2), hidden(1, 3))), None),
      ("a row behind the end", Seq(input(4, Set(1), hidden(1, 4))), None)
    )
  ) test(s"finds $what")(assert(found(inputs: _*) == expected))

  test("rows of 64-bit positions") {
    val huge = MergedInput(5L << 31, () => RowSelection.none, Unchanged)
    assert(found(huge, input(3, Set.empty, hidden(1))) == Some(Seq(((5L << 31) + 1) -> ((5L << 31) + 2))))
  }

  /** Of a row: left out, deleted later, or neither. */
  private val rows = Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.frequency(2 -> 'o', 2 -> 'x', 3 -> '.')))

  test("what is found are the rows that a list of all rows has at these places") {
    forAll(Gen.nonEmptyListOf(rows)) { files =>
      val inputs = files.map { file =>
        val at = file.indices.groupBy(file)
        val leftOut = at.getOrElse('o', Nil).toSet
        input(file.size, leftOut, Hidden(() => selection(leftOut ++ at.getOrElse('x', Nil))))
      }
      val merged = files.flatten.filterNot(_ == 'o')
      val expected = merged.indices.filter(merged(_) == 'x').map(_.toLong)
      assert(found(inputs: _*).map(_.flatMap { case (from, until) => from until until }) == Some(expected))
    }
  }
}
