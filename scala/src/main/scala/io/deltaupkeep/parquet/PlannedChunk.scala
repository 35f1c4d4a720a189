package io.deltaupkeep.parquet

import org.apache.parquet.column.{ColumnDescriptor, Encoding}

/** What a row group of an input gives to one column of the output. */
private[parquet] final case class ChunkPart(rowGroup: RowGroup, source: ColumnSource) {
  import ChunkPart._

  /** Of the chunk in the file; 0 where it lacks the column. */
  def compressedBytes: Long = source match {
    case ColumnSource.Present(index, _, _, _) => rowGroup.chunk(index).size
    case _ => 0
  }

  def isPresent: Boolean = source.isInstanceOf[ColumnSource.Present]

  def hasPageIndex: Boolean = source match {
    case ColumnSource.Present(index, _, _, _) => rowGroup.chunk(index).hasPageIndex
    case _ => false
  }

  def isCopyable: Boolean = source match {
    case ColumnSource.Present(_, _, _, copyable) => copyable
    case _ => false
  }

  /** Encodings of the chunk's values that have to be decoded. */
  def foreignEncodings: Seq[Encoding] = source match {
    case ColumnSource.Present(index, _, _, _) =>
      val encodings = rowGroup.chunk(index).encodings
      if (Foreign.exists(encodings)) Foreign.filter(encodings) else Nil
    case _ => Nil
  }
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
 * @param tier the most that has to be done to a part
 */
private[parquet] final case class PlannedChunk(
    column: ColumnDescriptor,
    parts: IndexedSeq[ChunkPart],
    tier: ChunkTier
) {
  val compressedBytes: Long = parts.iterator.map(_.compressedBytes).sum
}
