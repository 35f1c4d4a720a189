package org.apache.spark.sql.delta.upkeep.commit

import java.util.BitSet

import scala.collection.mutable
import scala.util.Random

import io.deltaupkeep.parquet.file.PlacedRows
import io.deltaupkeep.parquet.footer.RowSelection

import org.apache.hadoop.conf.Configuration
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.delta.upkeep.splice.{DeletedRows, InputFate}
import org.apache.spark.sql.delta.upkeep.splice.InputFate.{Hidden, Removed, Unchanged}

class LateDeletionsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def selection(rows: Iterable[Int]): RowSelection = {
    val gone = new BitSet()
    rows.foreach(gone.set)
    new RowSelection(gone)
  }

  private def hiddenRows(rows: Iterable[Int]): InputFate = Hidden(Some(new DeletedRows {
    override def bytes: Long = 0
    override def read(conf: Configuration): RowSelection = selection(rows)
  }))

  /** An input of some rows. */
  private case class Stored(rows: Long, leftOut: Set[Int], fate: InputFate) {
    def merged: MergedInput = MergedInput(() => selection(leftOut), fate)

    /** A run of its rows. */
    def placed(input: Int, from: Long, until: Long): PlacedRows =
      PlacedRows(input, from, until - from, until - from - leftOut.count(row => row >= from && row < until))
  }

  private def input(stored: Int, leftOut: Set[Int], fate: InputFate) = Stored(stored.toLong, leftOut, fate)

  private def hidden(rows: Int*): InputFate = hiddenRows(rows)

  /** Runs of the new file's rows, or None where the changes are not to be told. */
  private def found(inputs: Seq[Stored], placed: Seq[PlacedRows]): Option[Seq[(Long, Long)]] = {
    val runs = mutable.ArrayBuffer.empty[(Long, Long)]
    val late = new LateDeletions(inputs.map(_.merged), placed, new Configuration(false))
    if (late.find((from, until) => runs += from -> until)) Some(runs.toSeq) else None
  }

  /** The same where the new file has one input after the other. */
  private def found(inputs: Stored*): Option[Seq[(Long, Long)]] =
    found(inputs, inputs.zipWithIndex.map { case (file, i) => file.placed(i, 0, file.rows) })

  private val three = input(3, Set.empty, Unchanged)

  for (
    (what, inputs, expected) <- Seq[(String, Seq[Stored], Option[Seq[(Long, Long)]])](
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
    val huge = Stored(5L << 31, Set.empty, Unchanged)
    assert(found(huge, input(3, Set.empty, hidden(1))) == Some(Seq(((5L << 31) + 1) -> ((5L << 31) + 2))))
  }

  test("an input whose large row group comes before small ones of inputs before it") {
    val a = input(3, Set(1), hidden(1, 2))
    val b = input(6, Set(0), hidden(0, 4, 5))
    // b4 b5 a0 a2 b1 b2 b3
    val placed = Seq(b.placed(1, 4, 6), a.placed(0, 0, 3), b.placed(1, 0, 4))
    assert(found(Seq(a, b), placed) == Some(Seq(3L -> 4L, 0L -> 2L)))
    val gone = b.copy(fate = Removed)
    assert(found(Seq(a.copy(rows = 9), gone), Seq(gone.placed(1, 4, 6), a.placed(0, 0, 9))).contains(
      Seq(3L -> 4L, 0L -> 2L)
    ))
  }

  /** Of a row: left out, deleted later, or neither. */
  private val rows = Gen.choose(0, 40).flatMap(Gen.listOfN(_, Gen.frequency(2 -> 'o', 2 -> 'x', 3 -> '.')))

  test("what is found are the rows that a list of all rows has at these places, in any order of runs") {
    forAll(Gen.nonEmptyListOf(rows), Gen.choose(0L, Long.MaxValue)) { (files, seed) =>
      val random = new Random(seed)
      val inputs = files.map { file =>
        val at = file.indices.groupBy(file)
        val leftOut = at.getOrElse('o', Nil).toSet
        input(file.size, leftOut, hiddenRows(leftOut ++ at.getOrElse('x', Nil)))
      }
      val runs = random.shuffle(inputs.indices.flatMap { i =>
        val cuts = (Seq(0, files(i).size) ++ Seq.fill(3)(random.nextInt(files(i).size + 1))).distinct.sorted
        cuts.zip(cuts.drop(1)).map { case (from, until) => inputs(i).placed(i, from.toLong, until.toLong) }
      })
      val merged =
        runs.flatMap(run => files(run.input).slice(run.firstRow.toInt, run.end.toInt).filterNot(_ == 'o'))
      val expected = merged.indices.filter(merged(_) == 'x').map(_.toLong)
      val hidden = found(inputs, runs).map(_.flatMap { case (from, until) => from until until }.sorted)
      assert(hidden == Some(expected))
    }
  }
}
