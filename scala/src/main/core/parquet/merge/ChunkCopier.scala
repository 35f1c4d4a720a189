package io.deltaupkeep.parquet.merge

import java.io.ByteArrayInputStream

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.{CompactReader, FileBytes, HiddenCompression, MalformedPage, Slice}
import io.deltaupkeep.parquet.footer.WrittenBy

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.values.bloomfilter.{BlockSplitBloomFilter, BloomFilter}
import org.apache.parquet.format.Util
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, CompressionCodecName}
import org.apache.parquet.internal.column.columnindex.{ColumnIndex, OffsetIndex}
import org.apache.parquet.internal.hadoop.metadata.IndexReference
import org.apache.parquet.io.SeekableInputStream

/**
 * Copies a column chunk as bytes, with its indexes and its Bloom filter. Bounds are dropped if their writer
 * leaves values out of them, because readers would trust them under the new writer's name, or if the null count
 * is unknown. Page checksums are copied but not verified, so damage can be found as before.
 */
private[parquet] object ChunkCopier {

  /**
   * Copies one chunk.
   *
   * @param name      of its file, for errors
   * @param writtenBy the writer of that file
   */
  def copy(
      column: ColumnDescriptor,
      name: String,
      writtenBy: WrittenBy,
      bytes: FileBytes,
      chunk: ColumnChunkMetaData,
      to: ParquetFileWriter
  ): Unit = {
    val step = math.max(1L, math.min(StepBytes, chunk.getTotalSize)).toInt
    val stream = FileBytes.asInputFile(bytes, step).newStream()
    def read[T](part: => T): T = UnreadableInput.naming(name)(part)
    read(checkDictionary(stream, chunk))
    if (writtenBy.hidesCompression) read(checkCompression(stream, chunk))
    lazy val index = read(columnIndex(bytes, chunk))
    val keepsBounds = writtenBy.boundsAll(chunk.getPrimitiveType)
    to.appendColumnChunk(
      column,
      stream,
      if (keepsBounds && chunk.getStatistics.isNumNullsSet) chunk
      else withStatistics(chunk, keepsBounds, nullsOf(column, chunk, index)),
      read(bloomFilter(bytes, chunk)).orNull,
      (if (keepsBounds) index else None).orNull,
      read(offsetIndex(bytes, chunk)).orNull
    )
  }

  /** If the footer lacks the offset of a dictionary page, parquet-java reads its header between writes. */
  private def checkDictionary(stream: SeekableInputStream, chunk: ColumnChunkMetaData): Unit =
    if (chunk.hasDictionaryPage && chunk.getFirstDataPageOffset <= chunk.getStartingPos) {
      stream.seek(chunk.getStartingPos)
      parsed("a dictionary page")(Util.readPageHeader(stream))
      ()
    }

  /** All pages of a chunk have one version, so the first one decides. */
  private def checkCompression(stream: SeekableInputStream, chunk: ColumnChunkMetaData): Unit = {
    stream.seek(chunk.getFirstDataPageOffset)
    val head = parsed("a data page")(Util.readPageHeader(stream))
    if (
      head.isSetData_page_header_v2 && !head.getData_page_header_v2.isIs_compressed &&
      chunk.getCodec != CompressionCodecName.UNCOMPRESSED
    )
      throw new HiddenCompression(chunk.getCodec.name)
  }

  /** Some writers omit a null count of 0, and the statistics of others have none. */
  private def nullsOf(
      column: ColumnDescriptor,
      chunk: ColumnChunkMetaData,
      index: => Option[ColumnIndex]
  ): Option[Long] = {
    def ofPages = index.flatMap(pages => Option(pages.getNullCounts)).map(_.asScala.map(_.longValue))
    if (chunk.getStatistics.isNumNullsSet) Some(chunk.getStatistics.getNumNulls)
    else if (column.getMaxDefinitionLevel == 0) Some(0L)
    else ofPages.filter(counts => counts.nonEmpty && counts.forall(_ >= 0)).map(_.sum)
  }

  /** For bounds without a null count, parquet-java would write a count of -1. */
  private def withStatistics(
      chunk: ColumnChunkMetaData,
      keepsBounds: Boolean,
      nulls: Option[Long]
  ): ColumnChunkMetaData = {
    val known: Statistics[_] = chunk.getStatistics
    val statistics = Statistics.getBuilderForReading(chunk.getPrimitiveType)
    nulls.foreach(statistics.withNumNulls)
    if (keepsBounds && nulls.nonEmpty && known.hasNonNullValue)
      statistics.withMin(known.getMinBytes).withMax(known.getMaxBytes)
    ColumnChunkMetaData.get(
      chunk.getPath,
      chunk.getPrimitiveType,
      chunk.getCodec,
      chunk.getEncodingStats,
      chunk.getEncodings,
      statistics.build(),
      chunk.getFirstDataPageOffset,
      chunk.getDictionaryPageOffset,
      chunk.getValueCount,
      chunk.getTotalSize,
      chunk.getTotalUncompressedSize
    )
  }

  private def columnIndex(bytes: FileBytes, chunk: ColumnChunkMetaData): Option[ColumnIndex] =
    referenced(bytes, chunk.getColumnIndexReference).flatMap { stream =>
      parsed("a column index") {
        Option(
          ParquetMetadataConverter.fromParquetColumnIndex(
            chunk.getPrimitiveType,
            Util.readColumnIndex(stream)
          )
        )
      }
    }

  private def offsetIndex(bytes: FileBytes, chunk: ColumnChunkMetaData): Option[OffsetIndex] =
    referenced(bytes, chunk.getOffsetIndexReference).map { stream =>
      parsed("an offset index") {
        ParquetMetadataConverter.fromParquetOffsetIndex(Util.readOffsetIndex(stream))
      }
    }

  /** Parses bytes that are already in memory: a failure here is not a failure to read the file. */
  private def parsed[T](what: String)(parse: => T): T =
    try parse
    catch { case NonFatal(e) => throw new MalformedPage(s"$what that cannot be read: ${e.getMessage}") }

  private def referenced(bytes: FileBytes, reference: IndexReference): Option[ByteArrayInputStream] =
    Option(reference).map { place =>
      val slice = range(bytes, place.getOffset, place.getLength)
      // Thrift's reader allocates a list before it notices that the bytes of the list are missing.
      val check = new CompactReader(slice.array, slice.from, slice.from + place.getLength)
      check.readStruct(_ => check.skip())
      new ByteArrayInputStream(slice.array, slice.from, place.getLength)
    }

  private def bloomFilter(bytes: FileBytes, chunk: ColumnChunkMetaData): Option[BloomFilter] =
    Option.when(chunk.getBloomFilterOffset >= 0) {
      val start = chunk.getBloomFilterOffset
      val headerBytes = math.min(MaxBloomHeader.toLong, bytes.length - start).toInt
      val slice = range(bytes, start, headerBytes)
      val stream = new ByteArrayInputStream(slice.array, slice.from, headerBytes)
      val header = parsed("a Bloom filter")(Util.readBloomFilterHeader(stream))
      val bits = range(bytes, start + headerBytes - stream.available(), header.getNumBytes)
      parsed("a Bloom filter") {
        new BlockSplitBloomFilter(java.util.Arrays.copyOfRange(
          bits.array,
          bits.from,
          bits.from + header.getNumBytes
        ))
      }
    }

  private def range(bytes: FileBytes, start: Long, count: Int): Slice = {
    if (start < 0 || count < 0 || start > bytes.length - count)
      throw new MalformedPage(s"$count bytes of an index or Bloom filter from $start on")
    bytes.read(start, count)
  }

  private val StepBytes = 4L << 20

  private val MaxBloomHeader = 64
}
