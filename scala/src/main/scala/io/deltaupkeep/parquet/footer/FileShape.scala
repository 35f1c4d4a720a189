package io.deltaupkeep.parquet.footer

import io.deltaupkeep.parquet.bytes.UnreadableInput

import org.apache.parquet.io.InputFile

/** What the footer of a file says of sizes: those of its row groups, compressed, and its own, in bytes. */
final case class FileShape(rowGroups: IndexedSeq[Long], footerBytes: Long)

object FileShape {

  /**
   * Reads the footer of a file; none where it is encrypted.
   *
   * @throws io.deltaupkeep.parquet.bytes.UnreadableInput where there is no such file, or it is damaged
   */
  def of(file: InputFile): Option[FileShape] = UnreadableInput.naming(file.toString) {
    new FileOpener(heldFileBytes = 0).peek(file).toOption.map { open =>
      FileShape(open.rowGroups.map(_.compressedBytes), open.footerLength.toLong)
    }
  }
}
