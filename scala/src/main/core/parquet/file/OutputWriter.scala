package io.deltaupkeep.parquet.file

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.bytes.ParquetApi
import io.deltaupkeep.parquet.plan.SpliceSettings
import io.deltaupkeep.store.AbandonableOutput

import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

/**
 * The output of a splice. It is opened with the first row group, so a bin without rows has none. It has to be
 * either ended or abandoned.
 *
 * @param keyValues metadata of the file
 */
private[parquet] final class OutputWriter(
    output: => OutputFile,
    keyValues: Map[String, String],
    settings: SpliceSettings
) {
  private var opened = Option.empty[ParquetFileWriter]
  private lazy val file = new AbandonableOutput(output)

  def startRowGroup(schema: MessageType, rows: Long): ParquetFileWriter = {
    val writer = opened.getOrElse(open(schema))
    opened = Some(writer)
    writer.startBlock(rows)
    writer
  }

  /** Writes the footer and returns it. */
  def end(): Option[ParquetMetadata] = opened.map { writer =>
    writer.end(keyValues.asJava)
    writer.getFooter
  }

  /** Abandons the file. A partial file may appear, which the caller has to delete. */
  def abandon(): Unit = if (opened.nonEmpty) file.abandon()

  private def open(schema: MessageType): ParquetFileWriter = {
    val writer = ParquetApi.newWriter(
      file,
      schema,
      ParquetFileWriter.Mode.CREATE,
      settings.rowGroupBytes,
      settings.maxPadding
    )
    writer.start()
    writer
  }
}
