package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileOpener, FooterColumns, InputRows, OpenFile}

import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile

/**
 * What the footers of files say. It is also checked that the column chunks lie inside of the files. Each method returns why
 * a footer does not tell, such as encryption, and throws `UnreadableInput` if it cannot be read. Thread-safe.
 */
final class FileFooters {

  // Files of a table share their schemas.
  private val opener = new FileOpener(heldFileBytes = 0)

  /** The number of rows. */
  def rows(file: InputFile): Either[Refusal, Long] =
    of(file)(_.storedRowGroups.iterator.map(_.storedRows).sum)

  /** The codecs of all column chunks with rows: they are in the footer only. */
  def codecs(file: InputFile): Either[Refusal, Set[CompressionCodecName]] = of(file)(_.codecs)

  /** The columns, with their bounds. */
  def columns(file: InputFile): Either[Refusal, FooterColumns] = of(file)(FooterColumns.of)

  private def of[T](file: InputFile)(read: OpenFile => T): Either[Refusal, T] = Refusal.orElse {
    UnreadableInput.naming(file.toString)(opener.peek(InputRows(file)).map(read))
  }
}
