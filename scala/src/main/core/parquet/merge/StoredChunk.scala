package io.deltaupkeep.parquet.merge

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.deltaupkeep.parquet.bytes.{FileBytes, MalformedPage}
import io.deltaupkeep.parquet.footer.WrittenBy

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.values.bloomfilter.BloomFilter
import org.apache.parquet.format.{OffsetIndex => PageLocations}
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, CompressionCodecName}
import org.apache.parquet.internal.column.columnindex.ColumnIndex

/**
 * A chunk of an input whose values stay as they are, and what a new file takes over with it. Bounds are dropped if their
 * writer leaves values out of them, because readers would trust them under the new writer's name, or if the null count
 * is unknown.
 *
 * @param column    of the output
 * @param writtenBy the writer of the file
 */
private[merge] final class StoredChunk(
    column: ColumnDescriptor,
    writtenBy: WrittenBy,
    bytes: FileBytes,
    val metadata: ColumnChunkMetaData
) {
  private val indexes = new StoredIndexes(bytes, metadata)
  private val keepsBounds = writtenBy.boundsAll(metadata.getPrimitiveType)
  private lazy val storedIndex = indexes.columnIndex

  def columnIndex: Option[ColumnIndex] = if (keepsBounds) storedIndex else None

  def pageLocations: Option[PageLocations] = indexes.pageLocations

  def bloomFilter: Option[BloomFilter] = indexes.bloomFilter

  /** Whether the statistics are right as they are. */
  def keepsStatistics: Boolean = keepsBounds && metadata.getStatistics.isNumNullsSet

  def statistics: Statistics[_] = if (keepsStatistics) metadata.getStatistics else certainStatistics

  /** For bounds without a null count, parquet-java would write a count of -1. */
  private def certainStatistics: Statistics[_] = {
    val known: Statistics[_] = metadata.getStatistics
    val certain = Statistics.getBuilderForReading(metadata.getPrimitiveType)
    nulls.foreach(certain.withNumNulls)
    if (keepsBounds && nulls.nonEmpty && known.hasNonNullValue)
      certain.withMin(known.getMinBytes).withMax(known.getMaxBytes)
    certain.build()
  }

  /** Some writers omit a null count of 0, and the statistics of others have none. */
  private lazy val nulls: Option[Long] = {
    def ofPages = storedIndex.flatMap(pages => Option(pages.getNullCounts)).map(_.asScala.map(_.longValue))
    if (metadata.getStatistics.isNumNullsSet) Some(metadata.getStatistics.getNumNulls)
    else if (column.getMaxDefinitionLevel == 0) Some(0L)
    else ofPages.filter(counts => counts.nonEmpty && counts.forall(_ >= 0)).map(_.sum)
  }

  /** The metadata of the same values, stored at these places with these sizes. */
  def storedAs(codec: CompressionCodecName, place: ChunkPlace): ColumnChunkMetaData =
    ColumnChunkMetaData.get(
      metadata.getPath,
      metadata.getPrimitiveType,
      codec,
      metadata.getEncodingStats,
      metadata.getEncodings,
      statistics,
      place.firstDataPage,
      place.dictionaryPage,
      metadata.getValueCount,
      place.size,
      place.uncompressedSize
    )
}

private[merge] object StoredChunk {

  /** Parses bytes that are already in memory: a failure here is not a failure to read the file. */
  def parsed[T](what: String)(parse: => T): T =
    try parse
    catch { case NonFatal(e) => throw new MalformedPage(s"$what that cannot be read: ${e.getMessage}") }
}

/**
 * Where a chunk is in its file, and its sizes with all headers, in bytes.
 *
 * @param dictionaryPage 0 if there is none
 */
private[merge] final case class ChunkPlace(
    firstDataPage: Long,
    dictionaryPage: Long,
    size: Long,
    uncompressedSize: Long
)

private[merge] object ChunkPlace {
  def of(chunk: ColumnChunkMetaData): ChunkPlace = ChunkPlace(
    chunk.getFirstDataPageOffset,
    chunk.getDictionaryPageOffset,
    chunk.getTotalSize,
    chunk.getTotalUncompressedSize
  )
}
