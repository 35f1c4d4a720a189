package io.deltaupkeep.parquet.merge

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.{FileBytes, HiddenCompression}
import io.deltaupkeep.parquet.footer.WrittenBy

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.format.Util
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, CompressionCodecName}
import org.apache.parquet.io.SeekableInputStream

/**
 * Copies a column chunk as bytes, with its indexes and its Bloom filter. Page checksums are copied but not verified, so
 * damage can be found as before.
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
    val stored = new StoredChunk(column, writtenBy, bytes, chunk)
    def read[T](part: => T): T = UnreadableInput.naming(name)(part)
    read(checkDictionary(stream, chunk))
    if (writtenBy.hidesCompression) read(checkCompression(stream, chunk))
    to.appendColumnChunk(
      column,
      stream,
      read(if (stored.keepsStatistics) chunk else stored.storedAs(chunk.getCodec, ChunkPlace.of(chunk))),
      read(stored.bloomFilter).orNull,
      read(stored.columnIndex).orNull,
      read(stored.pageLocations).map(ParquetMetadataConverter.fromParquetOffsetIndex).orNull
    )
  }

  /** If the footer lacks the offset of a dictionary page, parquet-java reads its header between writes. */
  private def checkDictionary(stream: SeekableInputStream, chunk: ColumnChunkMetaData): Unit =
    if (chunk.hasDictionaryPage && chunk.getFirstDataPageOffset <= chunk.getStartingPos) {
      stream.seek(chunk.getStartingPos)
      StoredChunk.parsed("a dictionary page")(Util.readPageHeader(stream))
      ()
    }

  /** All pages of a chunk have one version, so the first one decides. */
  private def checkCompression(stream: SeekableInputStream, chunk: ColumnChunkMetaData): Unit = {
    stream.seek(chunk.getFirstDataPageOffset)
    val head = StoredChunk.parsed("a data page")(Util.readPageHeader(stream))
    if (
      head.isSetData_page_header_v2 && !head.getData_page_header_v2.isIs_compressed &&
      chunk.getCodec != CompressionCodecName.UNCOMPRESSED
    )
      throw new HiddenCompression(chunk.getCodec.name)
  }

  private val StepBytes = 4L << 20
}
