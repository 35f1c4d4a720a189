package io.deltaupkeep.parquet.merge

import java.io.{ByteArrayInputStream, InputStream, SequenceInputStream}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.footer.ChunkFacts

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.values.bloomfilter.BloomFilter
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.internal.column.columnindex.{ColumnIndex, OffsetIndex}
import org.apache.parquet.io.DelegatingSeekableInputStream

/**
 * A column chunk whose pages were compressed again, ready to be written.
 *
 * @param metadata    as if its first page were at `Start`; the offset index counts from there too
 * @param parts       its bytes
 */
private[parquet] final case class RecompressedChunk(
    column: ColumnDescriptor,
    metadata: ColumnChunkMetaData,
    parts: Seq[Array[Byte]],
    bloomFilter: Option[BloomFilter],
    columnIndex: Option[ColumnIndex],
    offsetIndex: Option[OffsetIndex]
) extends ReadyChunk {
  import RecompressedChunk._

  override def knownFacts: Option[ChunkFacts] = None

  override def write(to: ParquetFileWriter): Unit = {
    val each = parts.iterator.map(part => new ByteArrayInputStream(part): InputStream)
    to.appendColumnChunk(
      column,
      new Forward(new SequenceInputStream(each.asJavaEnumeration)),
      metadata,
      bloomFilter.orNull,
      columnIndex.orNull,
      offsetIndex.orNull
    )
  }
}

private[parquet] object RecompressedChunk {

  /** Where the first page would be in a file of its own: parquet-java takes an offset of 0 for a missing one. */
  val Start: Long = 4L

  /** parquet-java goes to the start of a chunk and then reads on. */
  private final class Forward(bytes: InputStream) extends DelegatingSeekableInputStream(bytes) {
    override def getPos: Long = Start
    override def seek(position: Long): Unit =
      if (position != Start)
        throw new IllegalStateException(s"A chunk is read from its start, not from $position")
  }
}
