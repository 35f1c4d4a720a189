package io.deltaupkeep.parquet.footer

import org.apache.parquet.io.InputFile

/**
 * An input and the rows of it to keep.
 *
 * @param selection      evaluated when the file is opened; None to keep all rows
 * @param selectionBytes largest memory that it takes
 * @param fills          by column, what to fill in where the file has no value; for columns of optional 64-bit numbers
 * @param slice          of its row groups; the others count as if the file had none of them
 */
final case class InputRows(
    file: InputFile,
    selection: Option[() => RowSelection] = None,
    selectionBytes: Long = 0,
    fills: Map[String, Fill] = Map.empty,
    slice: FileSlice = FileSlice.Whole
) {
  def name: String = file.toString
}

/** One of several parts of a file, by their number from 0 on: its row groups are divided among them in their order. */
final case class FileSlice(number: Int, of: Int) {
  private[footer] def has(rowGroup: Int, rowGroups: Int): Boolean = rowGroup.toLong * of / rowGroups == number
}

object FileSlice {
  val Whole: FileSlice = FileSlice(0, 1)
}
