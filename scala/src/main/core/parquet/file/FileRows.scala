package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileOpener, InputRows}

import org.apache.parquet.io.InputFile

/** Counts the rows of files by their footers, and checks that the column chunks lie inside of the files. */
final class FileRows {

  // Files of a table share their schemas.
  private val opener = new FileOpener(heldFileBytes = 0)

  /**
   * The number of rows; or why the footer does not tell. Thread-safe.
   *
   * @throws io.deltaupkeep.UnreadableInput if the footer cannot be read
   */
  def of(file: InputFile): Either[Refusal, Long] = Refusal.orElse {
    UnreadableInput.naming(file.toString) {
      opener.peek(InputRows(file)).map(_.storedRowGroups.iterator.map(_.storedRows).sum)
    }
  }
}
