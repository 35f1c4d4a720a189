package io.deltaupkeep.parquet

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.io.InputFile

/** Looks into a column chunk of strings without the rest of its rows. */
object ChunkStrings {

  /**
   * Whether a value of the chunk passes a test. Reads the chunk in one request and holds it.
   *
   * @throws MalformedPage when the chunk is not what its metadata say
   */
  def exists(file: InputFile, column: ColumnDescriptor, chunk: ColumnChunkMetaData, conf: Configuration)(
      test: String => Boolean
  ): Boolean = {
    val meta = ChunkMeta(
      chunk.getCodec,
      chunk.getEncodings.asScala.toSet,
      chunk.getValueCount,
      chunk.getStartingPos,
      chunk.getTotalSize,
      hasPageIndex = false,
      chunk.getBloomFilterOffset
    )
    Using.resources(new FileBytes.Ranged(file), new PageCodec(conf)) { (bytes, codec) =>
      val slice = bytes.read(meta.start, Math.toIntExact(meta.size))
      val reader = new ChunkReader(column, meta, slice.array, slice.from, new ChunkScratch(codec))
      var found = false
      while (!found && reader.next()) found = strings(reader).exists(test)
      found
    }
  }

  private def strings(page: ChunkReader): Iterator[String] = {
    val values = if (page.isDictionaryEncoded) page.dictionary.getOrElse(page.values) else page.values
    Iterator.range(0, page.nonNull).map { i =>
      val index = if (page.isDictionaryEncoded) page.ids(i) else i
      val start = values.start(index) + LengthBytes
      new String(values.array, start, values.start(index + 1) - start, UTF_8)
    }
  }

  /** Before each value in PLAIN encoding. */
  private val LengthBytes = 4
}
