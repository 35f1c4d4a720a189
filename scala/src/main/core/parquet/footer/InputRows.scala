package io.deltaupkeep.parquet.footer

import org.apache.parquet.io.InputFile

/**
 * An input with the rows of it that stay.
 *
 * @param selection      is asked for when the file is opened; None if all rows stay
 * @param selectionBytes of memory that it takes at most
 * @param fills          by column, what stands where the file has no value; such columns are of optional 64-bit numbers
 */
final case class InputRows(
    file: InputFile,
    selection: Option[() => RowSelection] = None,
    selectionBytes: Long = 0,
    fills: Map[String, Fill] = Map.empty
) {
  def name: String = file.toString
}
