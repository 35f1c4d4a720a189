package io.deltaupkeep.parquet.plan

import io.deltaupkeep.parquet.footer.{ChunkMeta, Fill, RowGroup}
import io.deltaupkeep.parquet.plan.ColumnSource.Form

import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * The part of an input's row group that goes to one column of the output.
 *
 * @param nullsAs what to replace nulls with, if anything
 */
private[parquet] final case class ChunkPart(
    rowGroup: RowGroup,
    source: ColumnSource,
    nullsAs: Option[Fill] = None
) {
  import ChunkPart._

  /** What to replace nulls with, if there may be any. */
  def fill: Option[Fill] = nullsAs.filterNot(_ => chunk.exists(_.nulls == 0))

  /** The column's chunk in the file, if the file has the column. */
  def chunk: Option[ChunkMeta] = source match {
    case ColumnSource.Present(index, _, _, _) => Some(rowGroup.chunk(index))
    case _ => None
  }

  /**
   * Size of the chunk that is read for the column. If the file lacks the column, it is a neighbour's, which
   * shows where the struct is null.
   */
  def bytesToRead: Long = source match {
    case ColumnSource.Shaped(index, _, _) => rowGroup.chunk(index).size
    case _ => compressedBytes
  }

  /** Size of the chunk; 0 if the file lacks the column. */
  def compressedBytes: Long = chunk.fold(0L)(_.size)

  def isPresent: Boolean = chunk.nonEmpty

  /** The type of the file's column, if its values are converted. */
  def convertedFrom: Option[PrimitiveType] = source match {
    case ColumnSource.Present(_, stored, _, Form.Converted(_)) => Some(stored.getPrimitiveType)
    case _ => None
  }

  def hasPageIndex: Boolean = chunk.exists(_.hasPageIndex)

  def hasBloomFilter: Boolean = chunk.exists(_.bloomFilterOffset >= 0)

  def isCopyable: Boolean = source match {
    case ColumnSource.Present(_, _, _, Form.Equal) => !rowGroup.isCut && fill.isEmpty
    case _ => false
  }

  /**
   * Why some readers fail on such pages, or misread them, so that they are written anew; None if all read them.
   * Spark 4.2 misreads uncompressed DELTA_BYTE_ARRAY if a vectored read returns slices of a larger array. The input's
   * file system, or the ranges that are read of it, may be safe where the output's are not. A page of version 2 may be
   * uncompressed whatever the codec of its chunk.
   */
  def misread: Option[String] = source match {
    case ColumnSource.Present(index, stored, _, _) =>
      val encodings = rowGroup.chunk(index).encodings
      val isInt = stored.getPrimitiveType.getPrimitiveTypeName == PrimitiveTypeName.INT32
      if (encodings(Encoding.DELTA_BYTE_ARRAY))
        Some("is encoded as DELTA_BYTE_ARRAY, which Spark misreads in uncompressed pages")
      else if (isInt && encodings(Encoding.DELTA_BINARY_PACKED) && rowGroup.file.writtenBy.widensDeltas)
        Some("is encoded as DELTA_BINARY_PACKED by DuckDB, whose deltas may be too wide for Arrow C++")
      else None
    case _ => None
  }

  /** Encodings of the chunk's values that have to be decoded. */
  def foreignEncodings: Seq[Encoding] = chunk.fold[Seq[Encoding]](Nil)(c => Foreign.filter(c.encodings))
}

private object ChunkPart {
  private val Foreign = Seq(
    Encoding.DELTA_BINARY_PACKED,
    Encoding.DELTA_LENGTH_BYTE_ARRAY,
    Encoding.DELTA_BYTE_ARRAY,
    Encoding.BYTE_STREAM_SPLIT
  )
}

/**
 * One column of a row group of the output.
 *
 * @param collectionLevel definition level of a non-null outermost list or map; 0 if there is none
 * @param tier            the most expensive tier of its parts
 */
private[parquet] final case class PlannedChunk(
    column: ColumnDescriptor,
    collectionLevel: Int,
    parts: IndexedSeq[ChunkPart],
    tier: ChunkTier
) {
  val compressedBytes: Long = parts.iterator.map(_.compressedBytes).sum

  def bytesToRead: Long = parts.iterator.map(_.bytesToRead).sum

  def name: String = column.getPath.mkString(".")

  /** For a chunk of one part. */
  def whyNotCopied: String = parts.head.source match {
    case _: ColumnSource.Present if parts.head.rowGroup.isCut => "has deleted rows"
    case present: ColumnSource.Present => whyNotCopied(parts.head, present.column, present.form)
    case _ => "is not in the file"
  }

  private def whyNotCopied(part: ChunkPart, stored: ColumnDescriptor, form: Form): String = form match {
    case Form.Converted(_) => s"is ${ColumnSources.describe(stored.getPrimitiveType)} in the file"
    case Form.Equal if tier == ChunkTier.Recompress => "has another codec than is asked for"
    case Form.Moved if stored.getMaxDefinitionLevel < column.getMaxDefinitionLevel =>
      "is required in the file"
    case Form.Moved => "has another path in the file"
    case Form.Equal if part.misread.nonEmpty => part.misread.mkString
    case Form.Equal if part.fill.nonEmpty => "has row ids to be filled in"
    case Form.Equal => "has no page index"
  }
}

private[parquet] object PlannedChunk {

  /** The limit of an array; parquet-java copies a few bytes more. */
  val MostBytes: Long = Int.MaxValue - 16L
}
