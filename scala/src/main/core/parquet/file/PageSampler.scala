package io.deltaupkeep.parquet.file

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.chunk.ChunkScratch
import io.deltaupkeep.parquet.encoding.PageCodec
import io.deltaupkeep.parquet.footer.{ChunkMeta, FileOpener, InputRows, OpenFile}
import io.deltaupkeep.parquet.merge.StoredPages

import org.apache.parquet.format.PageType
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.metadata.CompressionCodecName.{GZIP, LZ4_RAW, SNAPPY, ZSTD}
import org.apache.parquet.io.InputFile

import org.apache.hadoop.conf.Configuration

/**
 * What some column chunks take, and would take with other codecs, in bytes.
 *
 * @param found the codecs that they have
 */
final case class CodecSizes(
    stored: Long,
    byCodec: Map[CompressionCodecName, Long],
    found: Set[CompressionCodecName]
)

/**
 * Compresses a few pages of files with other codecs: of the largest columns, the dictionary and some data pages. The other
 * data pages are taken to be like these.
 */
final class PageSampler(conf: Configuration) {
  import PageSampler._

  private val opener = new FileOpener(heldFileBytes = 0)

  /**
   * Of one chunk of each of the largest columns, or why they cannot be judged.
   *
   * @throws io.deltaupkeep.UnreadableInput if the file is missing or damaged
   */
  def sizes(file: InputFile): Either[Refusal, CodecSizes] = Refusal.orElse {
    UnreadableInput.naming(file.toString)(opener.using(InputRows(file))(sizes))
  }

  private def sizes(file: OpenFile): CodecSizes = {
    val codec = new PageCodec(conf)
    val scratch = new ChunkScratch(codec, MostPageBytes)
    val chunks = file.chunks.filter(chunk => chunk.values > 0 && file.writtenBy.defectOf(chunk).isEmpty)
      .toVector.sortBy(-_.size).distinctBy(_.path).take(MostColumns)
    try {
      val sizes = chunks.map(chunk => chunk -> sizesOf(file, chunk, scratch))
      CodecSizes(
        chunks.map(_.size).sum,
        Codecs.map(to => to -> sizes.map { case (chunk, pages) => estimate(chunk, pages, to) }.sum).toMap,
        chunks.map(_.codec).toSet
      )
    } finally codec.close()
  }

  private def sizesOf(file: OpenFile, chunk: ChunkMeta, scratch: ChunkScratch): Seq[PageSizes] = {
    val pages = new StoredPages(chunk, scratch, file.writtenBy.hidesCompression)
    val found = Vector.newBuilder[PageSizes]
    pages.sample(file.bytes, MostBytes, DataPages) { () =>
      val levels = pages.levelBytes
      val size = pages.head.uncompressedSize - levels
      val data = pages.decompressed(levels)
      val isV2 = pages.head.kind == PageType.DATA_PAGE_V2
      val byCodec = Codecs.map { to =>
        val compressed = scratch.codec.compress(to, data, size).length
        to -> (levels + (if (isV2) math.min(size, compressed) else compressed))
      }
      found += PageSizes(
        pages.head.kind == PageType.DICTIONARY_PAGE,
        pages.head.compressedSize,
        byCodec.toMap
      )
    }
    found.result()
  }
}

private object PageSampler {
  private val MostColumns = 3

  /** Of a chunk. Most writers make pages of at most a megabyte, and dictionaries too. */
  private val MostBytes = 4 << 20

  /** Uncompressed; files with longer pages are not sampled. */
  private val MostPageBytes = 16L << 20

  /** Writers may give up a dictionary after the first pages, so one page does not tell of the others. */
  private val DataPages = 4

  private val Codecs = Seq(SNAPPY, LZ4_RAW, GZIP, ZSTD)

  /** What a page takes, without its header. */
  private final case class PageSizes(
      isDictionary: Boolean,
      stored: Int,
      byCodec: Map[CompressionCodecName, Int]
  )

  /** The size of the chunk as it is if its first data page is too long to be read. */
  private def estimate(chunk: ChunkMeta, pages: Seq[PageSizes], to: CompressionCodecName): Long = {
    val (dictionaries, data) = pages.partition(_.isDictionary)
    if (data.isEmpty) chunk.size
    else {
      val rest = chunk.size - dictionaries.map(_.stored.toLong).sum
      val ratio = data.map(_.byCodec(to).toDouble).sum / math.max(1, data.map(_.stored).sum)
      dictionaries.map(_.byCodec(to).toLong).sum + (rest * ratio).toLong
    }
  }
}
