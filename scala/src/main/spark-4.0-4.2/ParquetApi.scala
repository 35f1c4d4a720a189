package io.deltaupkeep.parquet.bytes

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.column.values.bloomfilter.BloomFilter
import org.apache.parquet.conf.PlainParquetConfiguration
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.{LogicalTypeAnnotation, MessageType}

/** Where versions of parquet-java differ. Spark has 1.15 or newer since 4.0. */
private[parquet] object ParquetApi {

  def newWriter(
      output: OutputFile,
      schema: MessageType,
      mode: ParquetFileWriter.Mode,
      rowGroupBytes: Long,
      maxPadding: Int
  ): ParquetFileWriter = {
    val properties = ParquetProperties.builder().build()
    new ParquetFileWriter(output, schema, mode, rowGroupBytes, maxPadding, null, properties)
  }

  def addBloomFilter(to: ParquetFileWriter, column: String, filter: BloomFilter): Unit =
    to.addBloomFilter(column, filter)

  /** Options that need no Hadoop configuration. */
  def readOptions: ParquetReadOptions = ParquetReadOptions.builder(new PlainParquetConfiguration()).build()

  def isFloat16(logicalType: LogicalTypeAnnotation): Boolean =
    logicalType.isInstanceOf[LogicalTypeAnnotation.Float16LogicalTypeAnnotation]
}
