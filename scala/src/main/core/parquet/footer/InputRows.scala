package io.deltaupkeep.parquet.footer

import org.apache.parquet.io.InputFile

/**
 * An input and the rows of it to keep.
 *
 * @param selection      evaluated when the file is opened; None to keep all rows
 * @param selectionBytes largest memory that it takes
 * @param fills          by column, what to fill in where the file has no value; for columns of optional 64-bit numbers
 */
final case class InputRows(
    file: InputFile,
    selection: Option[() => RowSelection] = None,
    selectionBytes: Long = 0,
    fills: Map[String, Fill] = Map.empty
) {
  def name: String = file.toString
}
