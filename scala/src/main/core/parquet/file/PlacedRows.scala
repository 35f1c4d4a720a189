package io.deltaupkeep.parquet.file

/**
 * A run of an input's rows that stay together in the output. Large row groups of an input may come before small ones,
 * which are collected until they fill a row group, so an input may have several runs.
 *
 * @param input    position among the inputs that are not refused
 * @param firstRow of the run, by its position in the input
 * @param stored   rows of the input that the run spans
 * @param rows     those of them in the output: the others were deleted
 */
final case class PlacedRows(input: Int, firstRow: Long, stored: Long, rows: Long) {

  /** One past the last row of the input that the run spans. */
  def end: Long = firstRow + stored

  /** This run joined with the next one, if they are adjacent. */
  private[file] def joined(next: PlacedRows): Option[PlacedRows] =
    Option.when(next.input == input && next.firstRow == end) {
      copy(stored = stored + next.stored, rows = rows + next.rows)
    }
}
