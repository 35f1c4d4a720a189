package io.deltaupkeep.parquet.footer

import java.io.{ByteArrayInputStream, IOException}
import java.nio.{ByteBuffer, IntBuffer}
import java.nio.charset.StandardCharsets.US_ASCII
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.{Damage, FileBytes, LittleEndian, MalformedPage, ParquetApi, Slice}

import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, CompressionCodecName, ParquetMetadata}
import org.apache.parquet.schema.MessageType

/**
 * An input file with its footer.
 *
 * @param selection of its rows, counted over all row groups; None to keep all
 */
private[parquet] final class OpenFile(
    input: InputRows,
    val bytes: FileBytes,
    val schema: MessageType,
    val writtenBy: WrittenBy,
    val selection: Option[RowSelection],
    footer: Footer,
    footerBytes: FooterBytes
) extends FileFacts {

  /** For errors. */
  def name: String = input.name

  /** What to fill in where the file has no value for an output column. */
  def fill(column: Seq[String]): Option[Fill] =
    if (input.fills.isEmpty || column.size > 1) None else input.fills.get(column.head)

  /** Memory that it takes. */
  def heldBytes: Long = bytes.heldBytes + input.selectionBytes + footerHeldBytes

  /** Memory that its footer takes. */
  def footerHeldBytes: Long = FooterBytes.MemoryFactor * footerLength

  override def keyValues: Map[String, String] = footer.keyValues

  override def leastTimes: Seq[LeastTime] = LeastTime.of(metadata)

  def footerLength: Int = footerBytes.length

  /** Of all row groups, dropped ones included. */
  def rows: Long = footer.rowGroups.iterator.map(_.rows).sum

  /** Row groups with rows. */
  val storedRowGroups: IndexedSeq[RowGroup] = {
    val starts = footer.rowGroups.scanLeft(0L)(_ + _.rows)
    footer.rowGroups.indices.collect {
      case i if footer.rowGroups(i).rows > 0 && input.slice.has(i, footer.rowGroups.size) =>
        new RowGroup(this, footer.rowGroups(i), i, starts(i), selection)
    }
  }

  /** Row groups with rows to keep. */
  val rowGroups: IndexedSeq[RowGroup] = storedRowGroups.filter(_.rows > 0)

  /** Equal for files that the engine and readers treat alike. */
  def kind: Any = {
    val stored = footer.rowGroups.map(group => IntBuffer.wrap(group.chunks.map(_.coding).toArray))
    (schema, writtenBy, rowGroups.exists(_.isCut), stored.toSet)
  }

  /** Those of all chunks with rows. */
  def codecs: Set[CompressionCodecName] =
    footer.rowGroups.iterator.filter(_.rows > 0).flatMap(_.chunks).map(_.codec).toSet

  def chunks: Iterator[ChunkMeta] = footer.rowGroups.iterator.flatMap(_.chunks)

  /** The whole footer, as parquet-java reads it. */
  private[parquet] lazy val metadata: ParquetMetadata =
    UnreadableInput.naming(name)(footerBytes.parse(ParquetMetadataConverter.NO_FILTER))
}

/** @param firstRow position in the file of its first row */
private[parquet] final class RowGroup(
    val file: OpenFile,
    meta: RowGroupMeta,
    ordinal: Int,
    val firstRow: Long,
    ofFile: Option[RowSelection]
) {

  /** Number of rows to keep. */
  val rows: Long = ofFile.fold(meta.rows)(_.kept(firstRow, firstRow + meta.rows))

  def storedRows: Long = meta.rows

  /** The rows of the file to keep; None to keep the whole row group. */
  def selection: Option[RowSelection] = ofFile.filter(_ => isCut)

  def isCut: Boolean = rows < storedRows

  /** Of the kept rows, assuming that all rows are alike. */
  def uncompressedBytes: Long =
    if (isCut) (meta.uncompressedBytes.toDouble * rows / storedRows).toLong else meta.uncompressedBytes

  val compressedBytes: Long = meta.chunks.iterator.map(_.size).sum

  /** The chunk of a column, by its index in the file's schema: chunks are in that order (Parquet format). */
  def chunk(index: Int): ChunkMeta = meta.chunks(index)

  /** The same for parquet-java's writer. */
  def chunkToCopy(index: Int): ColumnChunkMetaData =
    file.metadata.getBlocks.get(ordinal).getColumns.get(index)
}

/** Opens files and caches the schemas and writers that they share. Thread-safe. */
private[parquet] final class FileOpener(heldFileBytes: Long) {
  import FileOpener._

  private val schemas = new ConcurrentHashMap[ByteBuffer, StoredSchema]
  private val writers = new ConcurrentHashMap[String, WrittenBy]

  /** The file with its footer and its selection, or why it cannot be spliced. */
  def open(input: InputRows): Either[String, OpenFile] = {
    val file = input.file
    val bytes = if (file.getLength <= heldFileBytes) FileBytes.fetch(file) else new FileBytes.Ranged(file)
    val opened =
      try withFooter(input, bytes)
      catch {
        case failure: Throwable =>
          try bytes.close()
          catch { case also: IOException => failure.addSuppressed(also) }
          throw failure
      }
    if (opened.isLeft) bytes.close()
    opened
  }

  /** Uses an open file, and closes it. */
  def using[T](input: InputRows)(use: OpenFile => T): Either[String, T] = open(input).map { file =>
    try use(file)
    finally file.bytes.close()
  }

  /** Reads only the footer and the selection. */
  def peek(input: InputRows): Either[String, OpenFile] = {
    val bytes = new FileBytes.Ranged(input.file)
    try withFooter(input, bytes)
    finally bytes.close()
  }

  private def withFooter(input: InputRows, bytes: FileBytes): Either[String, OpenFile] =
    FooterBytes.of(bytes).flatMap { bytesOfFooter =>
      val footer = bytesOfFooter.read()
      if (footer.isEncrypted) Left(Encrypted)
      else {
        val stored = schemas.computeIfAbsent(
          footer.schema,
          _ => new StoredSchema(bytesOfFooter.parse(ParquetMetadataConverter.SKIP_ROW_GROUPS))
        )
        footer.rowGroups.foreach(check(_, stored.paths, bytes.length))
        val selection = input.selection.map(_())
        selection.foreach(check(_, footer.rowGroups.iterator.map(_.rows).sum))
        Right(
          new OpenFile(
            input,
            bytes,
            stored.schema,
            writers.computeIfAbsent(footer.createdBy, new WrittenBy(_)),
            selection,
            footer,
            bytesOfFooter
          )
        )
      }
    }

  private def check(selection: RowSelection, rows: Long): Unit =
    if (selection.end > rows) throw new WrongSelection(selection.end - 1, rows)

  private def check(group: RowGroupMeta, paths: Seq[Seq[String]], fileBytes: Long): Unit = {
    if (!group.chunks.iterator.map(_.path).sameElements(paths))
      throw new MalformedPage("a row group has other columns than the schema")
    group.chunks.foreach { chunk =>
      if (chunk.start < 0 || chunk.size < 0 || chunk.start > fileBytes - chunk.size)
        throw new MalformedPage(s"${chunk.size} bytes from ${chunk.start} on in a file of $fileBytes")
      if (group.rows < 0 || chunk.values < group.rows || group.rows == 0 && chunk.values > 0)
        throw new MalformedPage(s"${group.rows} rows with ${chunk.values} values")
    }
  }
}

private[parquet] object FileOpener {

  private final class StoredSchema(footer: ParquetMetadata) {
    val schema: MessageType = footer.getFileMetaData.getSchema
    val paths: IndexedSeq[Seq[String]] = schema.getColumns.asScala.map(_.getPath.toVector).toIndexedSeq
  }

  val Encrypted: String = "a file is encrypted"
}

/** A footer as it is stored. */
private[parquet] final class FooterBytes(slice: Slice, val length: Int) {

  def read(): Footer = Footer.read(slice.array, slice.from, length)

  def parse(filter: ParquetMetadataConverter.MetadataFilter): ParquetMetadata =
    Damage.in("its footer") {
      new ParquetMetadataConverter(FooterBytes.options)
        .readParquetMetadata(new ByteArrayInputStream(slice.array, slice.from, length), filter)
    }
}

private[parquet] object FooterBytes {

  /** Reads the end of a file (Parquet format, 'File Format'): one request, or two for a footer beyond 64 KiB. */
  def of(bytes: FileBytes): Either[String, FooterBytes] = {
    val tailLength = math.min(bytes.length, FirstRequest).toInt
    if (tailLength < EndLength + Magic.length) throw new MalformedPage("the file is too short")
    val tail = bytes.read(bytes.length - tailLength, tailLength)
    val end = tail.from + tailLength
    new String(tail.array, end - Magic.length, Magic.length, US_ASCII) match {
      case Magic =>
        val length = LittleEndian.getInt(tail.array, end - EndLength)
        if (length < 0 || length > bytes.length - EndLength - Magic.length)
          throw new MalformedPage(s"a footer of $length bytes in a file of ${bytes.length}")
        if (length <= tailLength - EndLength)
          Right(new FooterBytes(Slice(tail.array, end - EndLength - length), length))
        else Right(new FooterBytes(bytes.read(bytes.length - EndLength - length, length), length))
      case EncryptedMagic => Left(FileOpener.Encrypted)
      case other => throw new MalformedPage(s"the file ends in '$other', not in '$Magic'")
    }
  }

  private val options = ParquetApi.readOptions

  /** Memory of a footer parsed by us and by parquet-java, as a multiple of its length: measured 8 to 9. */
  val MemoryFactor = 9L

  private val Magic = "PAR1"
  private val EncryptedMagic = "PARE"

  /** The length of the footer and the magic number. */
  private val EndLength = 8

  private val FirstRequest = 1L << 16
}
