package io.deltaupkeep.parquet.gather

import java.util.BitSet

import io.deltaupkeep.parquet.file.Refusal
import io.deltaupkeep.parquet.footer.{OpenFile, RowGroup, RowSelection}

/** Rows of an input whose way into new files is followed. */
sealed trait RowMarks

object RowMarks {
  case object NoRows extends RowMarks
  case object AllRows extends RowMarks

  /** Those that a newer selection of the same file drops. */
  final case class Dropped(by: RowSelection) extends RowMarks
}

/** @param marks of the files; none mark no row */
private[gather] final class MarkedRows(files: IndexedSeq[OpenFile], marks: IndexedSeq[RowMarks]) {

  /** Why rows cannot be followed. */
  def whyNot: Option[Refusal] = files.zip(marks).collectFirst {
    case (file, RowMarks.Dropped(by)) if by.end > file.rows || !file.selection.forall(by.dropsAllOf) =>
      Refusal("a file has rows again that were deleted when it was read, or fewer rows")
  }

  /**
   * Positions of the marked rows.
   *
   * @param order of the rows, by their numbers in the files without dropped rows
   */
  def places(order: Array[Int], from: Int, until: Int): BitSet = {
    val places = new BitSet
    if (!numbers.isEmpty) {
      var place = from
      while (place < until) {
        if (numbers.get(order(place))) places.set(place - from)
        place += 1
      }
    }
    places
  }

  private lazy val numbers: BitSet = {
    val numbers = new BitSet
    var start = 0
    for ((file, marked) <- files.zip(marks); group <- file.rowGroups) {
      marked match {
        case RowMarks.NoRows => ()
        case RowMarks.AllRows => numbers.set(start, start + group.rows.toInt)
        case RowMarks.Dropped(by) => mark(numbers, group, start, by)
      }
      start += group.rows.toInt
    }
    numbers
  }

  private def mark(numbers: BitSet, group: RowGroup, start: Int, by: RowSelection): Unit = {
    def kept(from: Long, until: Long): Int = group.selection.fold(until - from)(_.kept(from, until)).toInt
    val end = group.firstRow + group.storedRows
    var (at, number) = (group.firstRow, start)
    var from = by.nextDropped(at)
    while (from < end) {
      val until = math.min(end, by.nextKept(from))
      val first = number + kept(at, from)
      number = first + kept(from, until)
      numbers.set(first, number)
      at = until
      from = by.nextDropped(until)
    }
  }
}
