package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileOpener, InputRows}

import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile

/** Finds the codecs of files. They are in their footers only. */
final class FileCodecs {

  // Files of a table share their schemas.
  private val opener = new FileOpener(heldFileBytes = 0)

  /**
   * The codecs of all column chunks with rows; or why they are not known. Thread-safe.
   *
   * @throws io.deltaupkeep.UnreadableInput if the footer cannot be read
   */
  def of(file: InputFile): Either[Refusal, Set[CompressionCodecName]] = Refusal.orElse {
    UnreadableInput.naming(file.toString) {
      opener.peek(InputRows(file)).map(_.codecs)
    }
  }
}
