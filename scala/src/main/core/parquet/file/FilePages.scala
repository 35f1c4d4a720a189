package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.chunk.ChunkScratch
import io.deltaupkeep.parquet.encoding.PageCodec
import io.deltaupkeep.parquet.footer.{FileOpener, InputRows, OpenFile}
import io.deltaupkeep.parquet.merge.StoredPages

import org.apache.parquet.io.InputFile

import org.apache.hadoop.conf.Configuration

/** Reads all pages of files: their headers, their checksums where they have one, and what they decompress to. */
final class FilePages(conf: Configuration) {

  private val opener = new FileOpener(heldFileBytes = 0)

  /**
   * Nothing, or why pages cannot be judged. Holds one column chunk at a time.
   *
   * @throws io.deltaupkeep.UnreadableInput if it is damaged
   */
  def check(file: InputFile): Either[Refusal, Unit] = Refusal.orElse {
    UnreadableInput.naming(file.toString) {
      opener.using(InputRows(file)) { open =>
        open.chunks.flatMap(open.writtenBy.defectOf).nextOption().toLeft(check(open))
      }.flatMap(identity)
    }
  }

  private def check(file: OpenFile): Unit = {
    val codec = new PageCodec(conf)
    val scratch = new ChunkScratch(codec)
    try
      file.chunks.foreach { chunk =>
        val pages = new StoredPages(chunk, scratch, file.writtenBy.hidesCompression)
        pages.foreach(file.bytes) { () =>
          pages.decompressed(pages.levelBytes)
          ()
        }
      }
    finally codec.close()
  }
}
