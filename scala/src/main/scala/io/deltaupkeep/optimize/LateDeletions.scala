package io.deltaupkeep.optimize

import io.deltaupkeep.parquet.footer.RowSelection

/** What became of an input since it was read. */
sealed trait Since

object Since {
  case object Unchanged extends Since

  /** The table no longer has it: no row of it is there, or another file has those that are. */
  case object Removed extends Since

  /** It has another deletion vector now, or none any more. */
  final case class Hidden(deleted: () => RowSelection) extends Since
}

/**
 * An input of a new file.
 *
 * @param rows    of it that the new file has
 * @param leftOut rows of it that were deleted when it was read, so the new file does not have them
 */
final case class MergedInput(rows: Long, leftOut: () => RowSelection, since: Since)

/**
 * Finds the rows of a new file that other writers deleted from its inputs after these were read. Inputs lie in the new
 * file in their order, and so do their rows.
 *
 * For example, input a has rows 0 to 4, of which 1 was left out, and b has rows 0 to 2. The new file has
 * a0 a2 a3 a4 b0 b1 b2. If a hides 1 and 3 now, and b hides 0, then rows 2 and 4 of the new file were deleted.
 *
 * Pure, but for the selections: each is read when its input's turn comes, and not kept.
 */
object LateDeletions {

  /**
   * @param delete is told runs of rows of the new file, `from` until `until`, in increasing order
   * @return whether all changes can be told as deleted rows of the new file. If not, `delete` was told some of them,
   *         or none
   */
  def find(inputs: Seq[MergedInput])(delete: (Long, Long) => Unit): Boolean =
    mostlyLeft(inputs) && {
      val starts = inputs.scanLeft(0L)(_ + _.rows)
      inputs.zip(starts).forall { case (input, start) => find(input, start)(delete) }
    }

  /**
   * Removed inputs may take up to half of the new file. If more of it would be hidden, the rest is better rewritten:
   * another compaction has most of it.
   */
  private def mostlyLeft(inputs: Seq[MergedInput]): Boolean = {
    val removed = inputs.filter(_.since == Since.Removed)
    removed.size < inputs.size && removed.map(_.rows).sum <= inputs.map(_.rows).sum / 2
  }

  private def find(input: MergedInput, start: Long)(delete: (Long, Long) => Unit): Boolean =
    input.since match {
      case Since.Unchanged => true
      case Since.Removed =>
        if (input.rows > 0) delete(start, start + input.rows)
        true
      case Since.Hidden(deleted) =>
        val now = deleted()
        val leftOut = input.leftOut()
        // A row that is there again, as after RESTORE, is not in the new file; nor is one behind the end of the input.
        val isMapped = now.dropsAllOf(leftOut) && now.end <= input.rows + leftOut.dropped
        if (isMapped) find(now, leftOut, start)(delete)
        isMapped
    }

  private def find(now: RowSelection, leftOut: RowSelection, start: Long)(
      delete: (Long, Long) => Unit
  ): Unit = {
    // From a row of the input to that of the new file.
    var shift = start
    var from = now.nextDropped(0)
    while (from < now.end) {
      val until = now.nextKept(from)
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
