package io.deltaupkeep.parquet.file

/**
 * A run of rows of an input that the output has together. Large row groups of an input may come before others that
 * are collected until they are full together, so an input may have several runs.
 *
 * @param input    its position among those that are not refused
 * @param firstRow of the run, by its position in the input
 * @param stored   rows of the input that the run spans
 * @param rows     of these that the output has: the others were deleted
 */
final case class PlacedRows(input: Int, firstRow: Long, stored: Long, rows: Long) {

  /** One past the last row of the input that the run spans. */
  def end: Long = firstRow + stored

  /** This run and the next one, if they are one. */
  private[file] def joined(next: PlacedRows): Option[PlacedRows] =
    Option.when(next.input == input && next.firstRow == end) {
      copy(stored = stored + next.stored, rows = rows + next.rows)
    }
}
