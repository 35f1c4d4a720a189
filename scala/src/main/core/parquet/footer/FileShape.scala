package io.deltaupkeep.parquet.footer

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UnreadableInput

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.InputFile

/** The compressed sizes of a file's row groups and the size of its footer, in bytes, and its number of rows. */
final case class FileShape(rowGroups: IndexedSeq[Long], footerBytes: Long, rows: Long)

/** The footer of a file as if it had but one of its row groups, which has so many compressed bytes. */
final case class RowGroupFooter(footer: ParquetMetadata, bytes: Long)

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

  /**
   * Reads the footer of a file, for each row group; none if it is encrypted.
   *
   * @throws io.deltaupkeep.UnreadableInput if the file is missing or damaged
   */
  def rowGroupsOf(file: InputFile): Seq[RowGroupFooter] = UnreadableInput.naming(file.toString) {
    new FileOpener(heldFileBytes = 0).peek(InputRows(file)).toOption.toSeq.flatMap { open =>
      open.metadata.getBlocks.asScala.map { block =>
        val footer = new ParquetMetadata(open.metadata.getFileMetaData, Seq(block).asJava)
        RowGroupFooter(footer, block.getCompressedSize)
      }
    }
  }
}
