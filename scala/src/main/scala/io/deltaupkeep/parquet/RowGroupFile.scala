package io.deltaupkeep.parquet

import scala.jdk.CollectionConverters._

import org.apache.parquet.column.{ColumnDescriptor, ParquetProperties}
import org.apache.parquet.hadoop.{ParquetFileWriter, ParquetWriter}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

import org.apache.hadoop.conf.Configuration

/**
 * A Bloom filter of a column; its values are then not put into a dictionary, which they seldom repeat in.
 *
 * @param falsePositives as a share of the values that are not there
 */
final case class BloomFilterSpec(column: String, falsePositives: Double, maxBytes: Int)

/**
 * Writes rows that are held as columns to files of one row group. For one thread at a time.
 *
 * @param schema       of the file
 * @param keyValues    metadata of the file
 * @param conf         settings of the codecs
 */
final class RowGroupFile(
    schema: MessageType,
    layout: PageLayout,
    codec: CompressionCodecName,
    bloomFilters: Seq[BloomFilterSpec],
    keyValues: Map[String, String],
    conf: Configuration
) extends AutoCloseable {

  private val scratch = new ChunkScratch(new PageCodec(conf))

  /** Columns of the schema that the rows do not have are null. The file must not exist. */
  def write(rows: RowShredder, output: OutputFile): Unit = {
    val buffers = rows.columns.map(buffer => buffer.column.getPath.toSeq -> buffer).toMap
    val to = new ParquetFileWriter(
      output,
      schema,
      ParquetFileWriter.Mode.CREATE,
      output.defaultBlockSize,
      ParquetWriter.MAX_PADDING_SIZE_DEFAULT,
      null,
      ParquetProperties.builder().build()
    )
    var complete = false
    try {
      to.start()
      to.startBlock(rows.rows.toLong)
      schema.getColumns.asScala.foreach { column =>
        encode(column, buffers.get(column.getPath.toSeq), rows.rows.toLong).write(to)
      }
      to.endBlock()
      to.end(keyValues.asJava)
      complete = true
    } finally if (!complete) {
        to.abort()
        to.close()
      }
  }

  private def encode(column: ColumnDescriptor, values: Option[ColumnBuffer], rows: Long): SplicedChunk = {
    val bloom = bloomFilters
      .find(spec => values.exists(_.nonNull > 0) && spec.column == column.getPath.mkString("."))
    val splicer = new ChunkSplicer(
      column,
      if (bloom.isEmpty) layout else layout.copy(dictionaryBytes = 0),
      codec,
      scratch,
      bloom.map(spec => new BloomValues(column.getPrimitiveType, spec.maxBytes, spec.falsePositives))
    )
    values.fold(splicer.appendNulls(rows, level = 0))(splicer.append)
    splicer.finish()
  }

  override def close(): Unit = scratch.codec.close()
}
