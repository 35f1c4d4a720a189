package org.apache.spark.sql.delta.upkeep.commit

import io.deltaupkeep.parquet.file.PlacedRows
import io.deltaupkeep.parquet.footer.RowSelection

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.delta.upkeep.splice.InputFate

/**
 * An input of a new file.
 *
 * @param leftOut rows of it that were deleted when it was read, so the new file does not have them
 */
final case class MergedInput(leftOut: () => RowSelection, fate: InputFate)

/**
 * Finds the rows of a new file that other writers deleted from its inputs after these were read.
 *
 * For example, input a has rows 0 to 4, of which 1 was left out, and b has rows 0 to 2. The new file has
 * a0 a2 a3 a4 b0 b1 b2. If a hides 1 and 3 now, and b hides 0, then rows 2 and 4 of the new file were deleted.
 *
 * Pure, except for the selections: each is read when its input's turn comes, and not kept.
 *
 * @param placed where the rows of the inputs are in the new file, in its order
 * @param conf   to read deletion vectors
 */
final class LateDeletions(inputs: Seq[MergedInput], placed: Seq[PlacedRows], conf: Configuration) {
  import LateDeletions.Run

  private val runs: Map[Int, Seq[Run]] =
    placed.zip(placed.scanLeft(0L)(_ + _.rows)).map { case (rows, start) => Run(rows, start) }
      .groupBy(_.rows.input)

  /**
   * @param delete receives runs of rows of the new file, `from` until `until`, each row once
   * @return whether all changes can be expressed as deleted rows of the new file. If not, `delete` received some of
   *         them, or none
   */
  def find(delete: (Long, Long) => Unit): Boolean =
    mostlyLeft && inputs.zipWithIndex.forall { case (input, index) => find(input, index)(delete) }

  /**
   * Removed inputs may make up at most half of the new file. If more were hidden, it is better to rewrite the rest:
   * another compaction has most of the rows.
   */
  private def mostlyLeft: Boolean = {
    val removed = inputs.indices.filter(inputs(_).fate == InputFate.Removed)
    removed.size < inputs.size && removed.map(rowsOf).sum <= placed.map(_.rows).sum / 2
  }

  private def runsOf(input: Int): Seq[Run] = runs.getOrElse(input, Nil)

  private def rowsOf(input: Int): Long = runsOf(input).map(_.rows.rows).sum

  private def find(input: MergedInput, index: Int)(delete: (Long, Long) => Unit): Boolean =
    input.fate match {
      case InputFate.Unchanged => true
      case InputFate.Removed =>
        runsOf(index).filter(_.rows.rows > 0).foreach(run => delete(run.start, run.start + run.rows.rows))
        true
      case hidden: InputFate.Hidden =>
        val now = hidden.rows(conf)
        val leftOut = input.leftOut()
        // A row that RESTORE brought back is not in the new file; nor is one past the end of the input.
        val isMapped = now.dropsAllOf(leftOut) && now.end <= rowsOf(index) + leftOut.dropped
        if (isMapped) runsOf(index).foreach(find(now, leftOut, _)(delete))
        isMapped
    }

  private def find(now: RowSelection, leftOut: RowSelection, run: Run)(delete: (Long, Long) => Unit): Unit = {
    // The distance from a row of the input to the same row of the new file.
    var shift = run.start - run.rows.firstRow
    var from = now.nextDropped(run.rows.firstRow)
    while (from < run.rows.end) {
      val until = math.min(run.rows.end, now.nextKept(from))
      var row = from
      while (row < until) {
        val late = math.min(until, leftOut.nextKept(row))
        shift -= late - row
        row = math.min(until, leftOut.nextDropped(late))
        if (late < row) delete(late + shift, row + shift)
      }
      from = now.nextDropped(until)
    }
  }
}

private object LateDeletions {

  /** @param start where the run begins in the new file */
  final case class Run(rows: PlacedRows, start: Long)
}
