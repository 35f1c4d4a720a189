package io.deltaupkeep.parquet.gather

import java.util.BitSet

import scala.util.Random

import io.deltaupkeep.parquet.footer.{OpenFile, RowGroup}

/**
 * Draws rows whose way from an input to an output is checked: one of each of some outputs, and one of each kind of input.
 *
 * @param order  rows in the order of the outputs, by their numbers in the inputs without deleted rows
 * @param wanted rows to take instead, by the positions of their inputs, which have no deleted rows, and their own
 */
private[gather] final class RowSample(
    files: IndexedSeq[OpenFile],
    order: Array[Int],
    wanted: Option[Seq[(Int, Long)]]
) {
  import RowSample._

  private val groups: IndexedSeq[(Int, RowGroup)] =
    files.zipWithIndex.flatMap { case (file, index) => file.rowGroups.map(index -> _) }
  private val starts: Array[Long] = groups.scanLeft(0L)(_ + _._2.rows).toArray

  /**
   * The rows of each output.
   *
   * @param outputs where they begin and end in the order
   */
  def of(outputs: IndexedSeq[(Int, Int)]): IndexedSeq[Seq[SampledRow]] = {
    val places = wanted.fold(draw(outputs))(rows => placesOf(rows.map(numberOf))).distinct.sorted
    outputs.map { case (from, until) =>
      places.dropWhile(_ < from).takeWhile(_ < until).map(place => rowAt(place, from))
    }
  }

  private def draw(outputs: IndexedSeq[(Int, Int)]): Seq[Int] =
    Random.shuffle(outputs).take(MostOutputs).map { case (from, until) =>
      from + Random.nextInt(until - from)
    } ++ ofKinds

  private def numberOf(row: (Int, Long)): Int =
    (starts(groups.indexWhere(_._1 == row._1)) + row._2).toInt

  /** Where a row of each kind of input went. */
  private def ofKinds: Seq[Int] = {
    val byKind = groups.indices.groupBy(group => groups(group)._2.file.kind).values.toSeq
    val ofEach = Random.shuffle(byKind).take(MostKinds).map { ofKind =>
      val group = ofKind(Random.nextInt(ofKind.size))
      (starts(group) + (Random.nextDouble() * groups(group)._2.rows).toLong).toInt
    }
    placesOf(ofEach)
  }

  private def placesOf(numbers: Seq[Int]): Seq[Int] = {
    val sought = new BitSet
    numbers.foreach(sought.set)
    val places = Seq.newBuilder[Int]
    var place = 0
    while (place < order.length) {
      if (sought.get(order(place))) places += place
      place += 1
    }
    places.result()
  }

  private def rowAt(place: Int, from: Int): SampledRow = {
    val number = order(place).toLong
    val found = java.util.Arrays.binarySearch(starts, number)
    val group = if (found >= 0) found else -found - 2
    val (input, rowGroup) = groups(group)
    SampledRow(input, stored(rowGroup, number - starts(group)), (place - from).toLong)
  }

  /** The position in the file of a row that is not deleted, by its number among those of the row group. */
  private def stored(group: RowGroup, number: Long): Long =
    group.selection.fold(group.firstRow + number) { selection =>
      var left = number
      var at = selection.nextKept(group.firstRow)
      var run = selection.nextDropped(at) - at
      while (left >= run) {
        left -= run
        at = selection.nextKept(at + run)
        run = selection.nextDropped(at) - at
      }
      at + left
    }
}

private object RowSample {
  private val MostOutputs = 8
  private val MostKinds = 8
}
