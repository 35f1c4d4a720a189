package io.deltaupkeep.parquet

import java.nio.charset.StandardCharsets.US_ASCII

import scala.jdk.CollectionConverters._

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.conf.PlainParquetConfiguration
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData, ParquetMetadata}
import org.apache.parquet.hadoop.metadata.FileMetaData.EncryptionType
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.MessageType

/** An input file with its footer; `name` is for errors. */
private[parquet] final class OpenFile(val name: String, val bytes: FileBytes, footer: ParquetMetadata) {

  def schema: MessageType = footer.getFileMetaData.getSchema

  def keyValues: Map[String, String] = footer.getFileMetaData.getKeyValueMetaData.asScala.toMap

  val rowGroups: Seq[RowGroup] =
    footer.getBlocks.asScala.toSeq.filter(_.getRowCount > 0).map(new RowGroup(this, _))
}

private[parquet] final class RowGroup(val file: OpenFile, block: BlockMetaData) {

  def rows: Long = block.getRowCount

  def uncompressedBytes: Long = block.getTotalByteSize

  val compressedBytes: Long = block.getColumns.asScala.iterator.map(_.getTotalSize).sum

  /** The chunk of a column, by its index in the file's schema: chunks lie in that order (Parquet format). */
  def chunk(index: Int): ColumnChunkMetaData = block.getColumns.get(index)
}

private[parquet] object OpenFile {

  /** What parquet-java needs to read a footer; for one thread. It is slow to make, so one serves many files. */
  def readOptions(): ParquetReadOptions = ParquetReadOptions.builder(new PlainParquetConfiguration()).build()

  /** The file with its footer, or why it cannot be spliced. */
  def open(
      file: InputFile,
      settings: SpliceSettings,
      options: ParquetReadOptions
  ): Either[String, OpenFile] = {
    val bytes =
      if (file.getLength <= settings.heldFileBytes) FileBytes.fetch(file) else new FileBytes.Ranged(file)
    withFooter(file.toString, bytes, options)
  }

  /** Only the footer is read. */
  def peek(file: InputFile, options: ParquetReadOptions): Either[String, OpenFile] = {
    val opened = withFooter(file.toString, new FileBytes.Ranged(file), options)
    opened.foreach(_.bytes.close())
    opened
  }

  private def withFooter(
      name: String,
      bytes: FileBytes,
      options: ParquetReadOptions
  ): Either[String, OpenFile] = {
    val input = FileBytes.asInputFile(bytes, FooterBytes)
    if (hasEncryptedFooter(bytes)) Left("a file is encrypted")
    else {
      val stream = input.newStream()
      val footer =
        try ParquetFileReader.readFooter(input, options, stream)
        finally stream.close()
      if (footer.getFileMetaData.getEncryptionType == EncryptionType.UNENCRYPTED)
        Right(new OpenFile(name, bytes, footer))
      else Left("a file is encrypted")
    }
  }

  private def hasEncryptedFooter(bytes: FileBytes): Boolean = bytes.length >= 4 && {
    val magic = bytes.read(bytes.length - 4, 4)
    new String(magic.array, magic.from, 4, US_ASCII) == "PARE"
  }

  private val FooterBytes = 1 << 18
}
