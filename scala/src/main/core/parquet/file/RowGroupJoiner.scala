package io.deltaupkeep.parquet.file

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.parquet.bytes.{FileBytes, ParquetApi}
import io.deltaupkeep.parquet.footer.{FooterBytes, WrittenBy}
import io.deltaupkeep.parquet.merge.ChunkCopier
import io.deltaupkeep.store.AbandonableOutput

import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.{ParquetFileWriter, ParquetWriter}
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.{InputFile, OutputFile}
import org.apache.parquet.schema.MessageType

/**
 * Row groups of a file.
 *
 * @param ordinals of the row groups, counted from 0; None for all
 */
final case class RowGroupsOf(file: InputFile, ordinals: Option[Seq[Int]])

/**
 * Copies row groups of several files to one file as bytes, with their indexes and Bloom filters. Nothing is
 * decoded, and at most 32 MB of a file are in memory. A failed output is aborted if the store supports that, but not
 * closed: a store that does not would then publish a part of it.
 */
object RowGroupJoiner {

  /**
   * Writes them in order, with the key-value metadata of the last file.
   *
   * @param output replaced if it exists
   * @return its bytes
   * @throws java.lang.IllegalArgumentException if the files have different schemas
   */
  def join(inputs: Seq[RowGroupsOf], output: OutputFile): Long = {
    val file = new AbandonableOutput(output)
    file.orAbort(write(inputs, file))
  }

  private def write(inputs: Seq[RowGroupsOf], output: OutputFile): Long = {
    var opened = Option.empty[(MessageType, ParquetFileWriter)]
    var keyValues = Map.empty[String, String].asJava
    inputs.foreach { input =>
      Using.resource(new FileBytes.Blocks(input.file)) { bytes =>
        val metadata = footer(input.file, bytes)
        val schema = metadata.getFileMetaData.getSchema
        val (first, to) = opened.getOrElse((schema, open(output, schema)))
        opened = Some((first, to))
        require(schema == first, s"${input.file} has another schema than the files before it")
        keyValues = metadata.getFileMetaData.getKeyValueMetaData
        copy(input, bytes, metadata, to)
      }
    }
    opened.fold(0L) { case (_, writer) =>
      writer.end(keyValues)
      writer.getPos
    }
  }

  private def copy(
      input: RowGroupsOf,
      bytes: FileBytes,
      metadata: ParquetMetadata,
      to: ParquetFileWriter
  ): Unit = {
    val schema = metadata.getFileMetaData.getSchema
    val writtenBy = new WrittenBy(Option(metadata.getFileMetaData.getCreatedBy).getOrElse(""))
    input.ordinals.getOrElse(metadata.getBlocks.asScala.indices).foreach { ordinal =>
      val group = metadata.getBlocks.get(ordinal)
      to.startBlock(group.getRowCount)
      group.getColumns.asScala.foreach { chunk =>
        val column = schema.getColumnDescription(chunk.getPath.toArray)
        ChunkCopier.copy(column, input.file.toString, writtenBy, bytes, chunk, to)
      }
      to.endBlock()
    }
  }

  private def footer(file: InputFile, bytes: FileBytes): ParquetMetadata =
    FooterBytes.of(bytes) match {
      case Right(stored) => stored.parse(ParquetMetadataConverter.NO_FILTER)
      case Left(why) => throw new IllegalArgumentException(s"Cannot copy row groups of $file: $why")
    }

  private def open(output: OutputFile, schema: MessageType): ParquetFileWriter = {
    val writer = ParquetApi.newWriter(
      output,
      schema,
      ParquetFileWriter.Mode.OVERWRITE,
      output.defaultBlockSize,
      ParquetWriter.MAX_PADDING_SIZE_DEFAULT
    )
    writer.start()
    writer
  }
}
