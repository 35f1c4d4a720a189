package io.deltaupkeep.parquet.file

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.bytes.ParquetApi
import io.deltaupkeep.parquet.chunk.ChunkScratch
import io.deltaupkeep.parquet.encoding.PageCodec
import io.deltaupkeep.parquet.merge.{ChunkSplicer, SplicedChunk}
import io.deltaupkeep.parquet.page.{BloomValues, ColumnBuffer, HeldPages, PageLayout}
import io.deltaupkeep.store.AbandonableOutput

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.{ParquetFileWriter, ParquetWriter}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

import org.apache.hadoop.conf.Configuration

/**
 * A Bloom filter of a column. The column then has no dictionary, because its values seldom repeat.
 *
 * @param falsePositives as a share of the values that are not in the chunk
 */
final case class BloomFilterSpec(column: String, falsePositives: Double, maxBytes: Int)

/**
 * Makes row groups from rows that are held as columns. Not thread-safe.
 *
 * @param schema of the file
 * @param conf   settings of the codecs
 */
final class RowGroupEncoder(
    schema: MessageType,
    layout: PageLayout,
    codec: CompressionCodecName,
    bloomFilters: Seq[BloomFilterSpec],
    conf: Configuration
) extends AutoCloseable {

  private val scratch = new ChunkScratch(new PageCodec(conf))

  /** Columns of the schema that the rows lack are null. */
  def encode(rows: RowShredder): EncodedRowGroup = {
    val buffers = rows.columns.map(buffer => buffer.column.getPath.toSeq -> buffer).toMap
    val count = rows.rows.toLong
    val chunks = schema.getColumns.asScala.map { column =>
      encode(column, buffers.get(column.getPath.toSeq), count)
    }
    new EncodedRowGroup(count, chunks.toSeq)
  }

  private def encode(column: ColumnDescriptor, values: Option[ColumnBuffer], rows: Long): SplicedChunk = {
    val bloom = bloomFilters
      .find(spec => values.exists(_.nonNull > 0) && spec.column == column.getPath.mkString("."))
    val splicer = new ChunkSplicer(
      column,
      if (bloom.isEmpty) layout else layout.copy(dictionaryBytes = 0),
      codec,
      scratch,
      bloom.map(spec => new BloomValues(column.getPrimitiveType, spec.maxBytes, spec.falsePositives)),
      new HeldPages(Long.MaxValue)
    )
    values.fold(splicer.appendNulls(rows))(splicer.append)
    splicer.finish()
  }

  override def close(): Unit = scratch.codec.close()
}

/** Column chunks as bytes, ready to be written. */
final class EncodedRowGroup private[parquet] (private[parquet] val rows: Long, chunks: Seq[SplicedChunk]) {

  private[parquet] def write(to: ParquetFileWriter): Unit = {
    to.startBlock(rows)
    chunks.foreach(_.write(to))
    to.endBlock()
  }
}

/**
 * A file of row groups. Appending is thread-safe. It has to be closed: unless it is finished, that abandons the file,
 * and a partial file may appear.
 *
 * @param output    must not exist
 * @param keyValues metadata of the file
 */
final class RowGroupFile(schema: MessageType, keyValues: Map[String, String], output: OutputFile)
    extends AutoCloseable {

  private val file = new AbandonableOutput(output)
  private val writer = ParquetApi.newWriter(
    file,
    schema,
    ParquetFileWriter.Mode.CREATE,
    output.defaultBlockSize,
    ParquetWriter.MAX_PADDING_SIZE_DEFAULT
  )
  private var isFinished = false
  writer.start()

  def append(group: EncodedRowGroup): Unit = synchronized(group.write(writer))

  /** Writes the footer. */
  def finish(): Unit = {
    writer.end(keyValues.asJava)
    isFinished = true
  }

  override def close(): Unit = if (!isFinished) file.abandon()
}
