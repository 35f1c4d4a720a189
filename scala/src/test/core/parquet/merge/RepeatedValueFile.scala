package io.deltaupkeep.parquet.merge

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Path

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.LocalFiles
import io.deltaupkeep.parquet.bytes.{ByteSink, ParquetApi, Slice}
import io.deltaupkeep.parquet.encoding.{PageCodec, RunLength}

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.schema.MessageTypeParser

/** A file of one column whose only value is stored once, however often it repeats: a small file of many bytes. */
object RepeatedValueFile {

  private val schema =
    MessageTypeParser.parseMessageType("message spark_schema { optional binary text (STRING); }")
  private val codec = CompressionCodecName.SNAPPY

  def write(file: Path, value: String, times: Int): Unit = {
    val pages = new PageCodec(new Configuration(false))
    val entry = new ByteSink()
    entry.putInt(value.length)
    entry.putBytes(value.getBytes(UTF_8), 0, value.length)
    val dictionary = BytesInput.from(pages.compress(codec, entry.array, entry.length))
    val body = new ByteSink()
    val levels = new ByteSink()
    RunLength.encodeRun(1, times, 1, levels)
    body.putInt(levels.length)
    body.putBytes(levels.array, 0, levels.length)
    body.put(1)
    RunLength.encodeRun(0, times, 1, body)
    val page = pages.compress(codec, body.array, body.length)
    pages.close()
    val column = schema.getColumns.get(0)
    val statistics: Statistics[_ <: Comparable[_]] = Statistics.createStats(column.getPrimitiveType)
    statistics.incrementNumNulls(0)
    val chunk = SplicedChunk(
      column,
      codec,
      Some(new DictionaryPage(dictionary, entry.length, 1, Encoding.PLAIN)),
      Seq(SplicedPage(
        times,
        times,
        body.length,
        Slice(page, 0),
        page.length,
        statistics,
        Encoding.RLE_DICTIONARY
      )),
      None
    )
    val writer =
      ParquetApi.newWriter(LocalFiles.output(file), schema, ParquetFileWriter.Mode.CREATE, 1L << 27, 0)
    writer.start()
    writer.startBlock(times.toLong)
    chunk.write(writer)
    writer.endBlock()
    writer.end(Map.empty[String, String].asJava)
  }
}
