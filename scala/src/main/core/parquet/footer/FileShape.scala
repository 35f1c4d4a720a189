package io.deltaupkeep.parquet.footer

import io.deltaupkeep.UnreadableInput

import org.apache.parquet.io.InputFile

/** The compressed sizes of a file's row groups and the size of its footer, in bytes, and its number of rows. */
final case class FileShape(rowGroups: IndexedSeq[Long], footerBytes: Long, rows: Long)

object FileShape {

  /**
   * Reads the footer of a file; None if it is encrypted.
   *
   * @throws io.deltaupkeep.UnreadableInput if the file is missing or damaged
   */
  def of(file: InputFile): Option[FileShape] = UnreadableInput.naming(file.toString) {
    new FileOpener(heldFileBytes = 0).peek(InputRows(file)).toOption.map { open =>
      FileShape(
        open.rowGroups.map(_.compressedBytes),
        open.footerLength.toLong,
        open.rowGroups.map(_.rows).sum
      )
    }
  }
}
