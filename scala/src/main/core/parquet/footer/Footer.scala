package io.deltaupkeep.parquet.footer

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable

import io.deltaupkeep.parquet.bytes.{CompactReader, FormatNames, MalformedPage}

import org.apache.parquet.column.Encoding
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * The metadata of a column chunk that splicing needs (Parquet format, 'ColumnMetaData'). Sizes and offsets in
 * bytes.
 *
 * @param path              of its column
 * @param start             of its first page in the file
 * @param size              of its pages, compressed
 * @param uncompressedSize  of its pages
 * @param bloomFilterOffset -1 if it has none
 * @param nulls             -1 if its statistics have no null count
 */
private[parquet] final case class ChunkMeta(
    path: Seq[String],
    codec: CompressionCodecName,
    encodings: Set[Encoding],
    values: Long,
    start: Long,
    size: Long,
    uncompressedSize: Long,
    hasPageIndex: Boolean,
    bloomFilterOffset: Long,
    nulls: Long
) {

  /** The codec in the lowest byte, and a bit for each encoding. */
  def coding: Int = encodings.foldLeft(codec.ordinal)((bits, encoding) => bits | 1 << (8 + encoding.ordinal))
}

/** A row group's metadata; `uncompressedBytes` of all its pages. */
private[parquet] final case class RowGroupMeta(
    rows: Long,
    uncompressedBytes: Long,
    chunks: IndexedSeq[ChunkMeta]
)

/**
 * The fields of a file's footer that splicing needs (Parquet format, 'FileMetaData').
 *
 * @param schema      as it is stored, with its column orders: equal bytes mean equal schemas
 * @param createdBy   the writer; empty if the file does not name it
 * @param isEncrypted whether columns are; a file whose footer is encrypted ends in another magic number
 */
private[parquet] final case class Footer(
    schema: ByteBuffer,
    rowGroups: IndexedSeq[RowGroupMeta],
    keyValues: Map[String, String],
    createdBy: String,
    isEncrypted: Boolean
)

private[parquet] object Footer {

  /** The required fields of FileMetaData, RowGroup and ColumnMetaData: without them rows would be missing. */
  private val OfFile = CompactReader.fields(1, 2, 3, 4)
  private val OfRowGroup = CompactReader.fields(1, 2, 3)
  private val OfColumn = CompactReader.fields(1, 2, 3, 4, 5, 6, 7, 9)

  def read(bytes: Array[Byte], from: Int, length: Int): Footer = {
    val in = new CompactReader(bytes, from, from + length)
    var schema = Array.emptyByteArray
    val rowGroups = Vector.newBuilder[RowGroupMeta]
    val keyValues = Map.newBuilder[String, String]
    var createdBy = ""
    var isEncrypted = false
    def skipped(): Array[Byte] = {
      val start = in.position
      in.skip()
      Arrays.copyOfRange(bytes, start, in.position)
    }
    var rows = 0L
    in.readFields(OfFile) {
      case 2 | 7 => schema ++= skipped()
      case 3 => rows = in.readLong()
      case 4 => in.readList(() => rowGroups += readRowGroup(in))
      case 5 => in.readList(() => keyValues += readKeyValue(in))
      case 6 => createdBy = in.readString()
      case 8 =>
        isEncrypted = true
        in.skip()
      case _ => in.skip()
    }
    val footer =
      Footer(ByteBuffer.wrap(schema), rowGroups.result(), keyValues.result(), createdBy, isEncrypted)
    val found = footer.rowGroups.iterator.map(_.rows).sum
    if (found != rows) throw new MalformedPage(s"$found rows in row groups of a file of $rows")
    footer
  }

  private def readRowGroup(in: CompactReader): RowGroupMeta = {
    val chunks = mutable.ArrayBuffer.empty[ChunkMeta]
    var uncompressedBytes = 0L
    var rows = 0L
    in.readFields(OfRowGroup) {
      case 1 => in.readList(() => chunks += readChunk(in))
      case 2 => uncompressedBytes = in.readLong()
      case 3 => rows = in.readLong()
      case _ => in.skip()
    }
    RowGroupMeta(rows, uncompressedBytes, chunks.toVector)
  }

  private def readChunk(in: CompactReader): ChunkMeta = {
    var chunk = Option.empty[ChunkMeta]
    var hasPageIndex = false
    in.readStruct {
      case 1 => throw new MalformedPage(s"a column is said to be in the file ${in.readString()}")
      case 3 => chunk = Some(readColumn(in))
      case 4 =>
        hasPageIndex = true
        in.skip()
      case _ => in.skip()
    }
    chunk
      .getOrElse(throw new MalformedPage("the metadata of a column are not there"))
      .copy(hasPageIndex = hasPageIndex)
  }

  private def readColumn(in: CompactReader): ChunkMeta = {
    var encodings = Set.empty[Encoding]
    var codec = CompressionCodecName.UNCOMPRESSED
    var (values, size, uncompressedSize, firstPage, dictionary, bloomFilter) = (0L, 0L, 0L, 0L, 0L, -1L)
    var nulls = -1L
    val path = Vector.newBuilder[String]
    in.readFields(OfColumn) {
      case 3 => in.readList(() => path += in.readString())
      case 2 => in.readList(() => encodings += FormatNames.encoding(in.readInt()))
      case 4 => codec = FormatNames.codec(in.readInt())
      case 5 => values = in.readLong()
      case 6 => uncompressedSize = in.readLong()
      case 7 => size = in.readLong()
      case 9 => firstPage = in.readLong()
      case 11 => dictionary = in.readLong()
      case 12 =>
        in.readStruct {
          case 3 => nulls = in.readLong()
          case _ => in.skip()
        }
      case 14 => bloomFilter = in.readLong()
      case _ => in.skip()
    }
    // Some writers set a dictionary page offset although there is no dictionary.
    val start = if (dictionary > 0 && dictionary < firstPage) dictionary else firstPage
    ChunkMeta(
      path.result(),
      codec,
      encodings,
      values,
      start,
      size,
      uncompressedSize,
      hasPageIndex = false,
      bloomFilter,
      nulls
    )
  }

  private def readKeyValue(in: CompactReader): (String, String) = {
    var key, value = ""
    in.readStruct {
      case 1 => key = in.readString()
      case 2 => value = in.readString()
      case _ => in.skip()
    }
    key -> value
  }
}
