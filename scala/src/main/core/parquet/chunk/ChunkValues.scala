package io.deltaupkeep.parquet.chunk

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.bytes.{FileBytes, LittleEndian}
import io.deltaupkeep.parquet.encoding.{PageCodec, Values}
import io.deltaupkeep.parquet.footer.ChunkMeta

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.io.InputFile

/**
 * Reads the values of a single column chunk. The chunk is read in one request and held in memory.
 *
 * @param conf settings of the codecs
 */
final class ChunkValues(
    file: InputFile,
    column: ColumnDescriptor,
    chunk: ColumnChunkMetaData,
    conf: Configuration
) {

  /**
   * Whether any value of a chunk of strings passes a test.
   *
   * @throws io.deltaupkeep.UnreadableInput if the chunk does not match its metadata
   */
  def existsString(test: String => Boolean): Boolean = {
    var found = false
    eachPage { page =>
      found = starts(page).exists { case (values, start, end) =>
        test(new String(values.array, start + LengthBytes, end - start - LengthBytes, UTF_8))
      }
      !found
    }
    found
  }

  /**
   * The number of values that are not null.
   *
   * @throws io.deltaupkeep.UnreadableInput if the chunk does not match its metadata
   */
  def count(): Long = {
    var count = 0L
    eachPage { page =>
      count += page.nonNull
      true
    }
    count
  }

  /**
   * The sum of a chunk of 64-bit numbers.
   *
   * @throws io.deltaupkeep.UnreadableInput if the chunk does not match its metadata
   */
  def sumLongs(): Long = {
    var sum = 0L
    eachPage { page =>
      starts(page).foreach { case (values, start, _) => sum += LittleEndian.getLong(values.array, start) }
      true
    }
    sum
  }

  /** Reads pages while `goOn` returns true. */
  private def eachPage(goOn: ChunkReader => Boolean): Unit = UnreadableInput.naming(file.toString) {
    val meta = ChunkMeta(
      column.getPath.toSeq,
      chunk.getCodec,
      chunk.getEncodings.asScala.toSet,
      chunk.getValueCount,
      chunk.getStartingPos,
      chunk.getTotalSize,
      chunk.getTotalUncompressedSize,
      hasPageIndex = false,
      chunk.getBloomFilterOffset,
      chunk.getStatistics.getNumNulls
    )
    Using.resources(new FileBytes.Ranged(file), new PageCodec(conf)) { (bytes, codec) =>
      val slice = bytes.read(meta.start, Math.toIntExact(meta.size))
      val reader = new ChunkReader(column, meta, slice.array, slice.from, new ChunkScratch(codec))
      var more = true
      while (more && reader.next()) more = goOn(reader)
    }
  }

  /** Where the encoded values of a page start and end. */
  private def starts(page: ChunkReader): Iterator[(Values, Int, Int)] = {
    val values = if (page.isDictionaryEncoded) page.dictionary.getOrElse(page.values) else page.values
    Iterator.range(0, page.nonNull).map { i =>
      val index = if (page.isDictionaryEncoded) page.ids(i) else i
      (values, values.start(index), values.start(index + 1))
    }
  }

  /** The length that precedes each string in PLAIN encoding. */
  private val LengthBytes = 4
}
