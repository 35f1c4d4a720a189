package io.deltaupkeep.parquet.bytes

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.column.values.bloomfilter.BloomFilter
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.{LogicalTypeAnnotation, MessageType}

/** Where versions of parquet-java differ. Spark 3.5 has 1.13. */
private[parquet] object ParquetApi {

  def newWriter(
      output: OutputFile,
      schema: MessageType,
      mode: ParquetFileWriter.Mode,
      rowGroupBytes: Long,
      maxPadding: Int
  ): ParquetFileWriter = new ParquetFileWriter(
    output,
    schema,
    mode,
    rowGroupBytes,
    maxPadding,
    ParquetProperties.DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
    ParquetProperties.DEFAULT_STATISTICS_TRUNCATE_LENGTH,
    ParquetProperties.DEFAULT_PAGE_WRITE_CHECKSUM_ENABLED
  )

  def addBloomFilter(to: ParquetFileWriter, column: String, filter: BloomFilter): Unit = {
    addition.invoke(to, column, filter)
    ()
  }

  // Package-private until 1.14.
  private lazy val addition = {
    val method =
      classOf[ParquetFileWriter].getDeclaredMethod("addBloomFilter", classOf[String], classOf[BloomFilter])
    method.setAccessible(true)
    method
  }

  def readOptions: ParquetReadOptions = ParquetReadOptions.builder().build()

  /** This version fails on footers with such columns. */
  def isFloat16(logicalType: LogicalTypeAnnotation): Boolean = false
}
