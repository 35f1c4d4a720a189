package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileOpener, FooterColumns, InputRows}

import org.apache.parquet.io.InputFile

/** Reads what the footers of files say of their columns. */
final class FileFooters {

  // Files of a table share their schemas.
  private val opener = new FileOpener(heldFileBytes = 0)

  /**
   * The columns; or why the footer does not tell. Thread-safe.
   *
   * @throws io.deltaupkeep.UnreadableInput if the footer cannot be read
   */
  def of(file: InputFile): Either[Refusal, FooterColumns] = Refusal.orElse {
    UnreadableInput.naming(file.toString) {
      opener.peek(InputRows(file)).map(FooterColumns.of)
    }
  }
}
