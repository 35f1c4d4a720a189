package io.deltaupkeep.parquet.file

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.bytes.ParquetApi
import io.deltaupkeep.store.AbandonableOutput

import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

/**
 * The output of a splice. It is opened with the first row group: a bin without rows has none. Unless it is
 * ended it has to be abandoned.
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

  /** Writes the footer, and tells what it says. */
  def end(): Option[ParquetMetadata] = opened.map { writer =>
    writer.end(keyValues.asJava)
    writer.getFooter
  }

  /** Gives the file up. A part of it may appear, and is for the caller to delete. */
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
