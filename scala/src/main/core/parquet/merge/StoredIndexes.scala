package io.deltaupkeep.parquet.merge

import java.io.ByteArrayInputStream
import java.util.Arrays

import io.deltaupkeep.parquet.bytes.{CompactReader, FileBytes, MalformedPage, Slice}

import org.apache.parquet.column.values.bloomfilter.{BlockSplitBloomFilter, BloomFilter}
import org.apache.parquet.format.{OffsetIndex => PageLocations, Util}
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.internal.column.columnindex.ColumnIndex
import org.apache.parquet.internal.hadoop.metadata.IndexReference

/** The indexes and the Bloom filter of a column chunk, as its file has them. */
private[merge] final class StoredIndexes(bytes: FileBytes, chunk: ColumnChunkMetaData) {
  import StoredIndexes._

  def columnIndex: Option[ColumnIndex] = referenced(chunk.getColumnIndexReference).flatMap { stream =>
    StoredChunk.parsed("a column index") {
      Option(
        ParquetMetadataConverter.fromParquetColumnIndex(chunk.getPrimitiveType, Util.readColumnIndex(stream))
      )
    }
  }

  def pageLocations: Option[PageLocations] = referenced(chunk.getOffsetIndexReference).map { stream =>
    StoredChunk.parsed("an offset index")(Util.readOffsetIndex(stream))
  }

  def bloomFilter: Option[BloomFilter] = Option.when(chunk.getBloomFilterOffset >= 0) {
    val start = chunk.getBloomFilterOffset
    val headerBytes = math.min(MaxBloomHeader.toLong, bytes.length - start).toInt
    val slice = range(start, headerBytes)
    val stream = new ByteArrayInputStream(slice.array, slice.from, headerBytes)
    val header = StoredChunk.parsed("a Bloom filter")(Util.readBloomFilterHeader(stream))
    val bits = range(start + headerBytes - stream.available(), header.getNumBytes)
    StoredChunk.parsed("a Bloom filter") {
      new BlockSplitBloomFilter(Arrays.copyOfRange(bits.array, bits.from, bits.from + header.getNumBytes))
    }
  }

  private def referenced(reference: IndexReference): Option[ByteArrayInputStream] =
    Option(reference).map { place =>
      val slice = range(place.getOffset, place.getLength)
      // Thrift's reader allocates a list before it notices that the bytes of the list are missing.
      val check = new CompactReader(slice.array, slice.from, slice.from + place.getLength)
      check.readStruct(_ => check.skip())
      new ByteArrayInputStream(slice.array, slice.from, place.getLength)
    }

  private def range(start: Long, count: Int): Slice = {
    if (start < 0 || count < 0 || start > bytes.length - count)
      throw new MalformedPage(s"$count bytes of an index or Bloom filter from $start on")
    bytes.read(start, count)
  }
}

private object StoredIndexes {
  private val MaxBloomHeader = 64
}
