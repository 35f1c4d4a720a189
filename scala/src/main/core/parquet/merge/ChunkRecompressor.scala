package io.deltaupkeep.parquet.merge

import java.util.Collections

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.bytes.{FileBytes, MalformedPage}
import io.deltaupkeep.parquet.chunk.ChunkScratch
import io.deltaupkeep.parquet.footer.{ChunkMeta, WrittenBy}
import io.deltaupkeep.parquet.page.HeldPages

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.format.{OffsetIndex => PageLocations, PageType}
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, CompressionCodecName}
import org.apache.parquet.internal.column.columnindex.OffsetIndex

/**
 * Compresses a column chunk with another codec, page by page. Its values, levels, encodings and indexes stay the same.
 *
 * @param to   the new codec
 * @param held counts the bytes of all pages of the row group
 */
private[parquet] final class ChunkRecompressor(
    to: CompressionCodecName,
    scratch: ChunkScratch,
    held: HeldPages
) {

  /**
   * @param column    of the output
   * @param writtenBy the writer of the file
   * @param chunk     what parquet-java says of the chunk, and `meta` what we say
   */
  def recompress(
      column: ColumnDescriptor,
      writtenBy: WrittenBy,
      bytes: FileBytes,
      chunk: ColumnChunkMetaData,
      meta: ChunkMeta
  ): RecompressedChunk = {
    val stored = new StoredChunk(column, writtenBy, bytes, chunk)
    val pages = pagesOf(bytes, meta, writtenBy.hidesCompression)
    val starts = pages.scanLeft(RecompressedChunk.Start)(_ + _.size)
    val dataPages = pages.zip(starts).filter(_._1.kind != PageType.DICTIONARY_PAGE)
    val hasDictionary = pages.head.kind == PageType.DICTIONARY_PAGE
    val place = ChunkPlace(
      dataPages.head._2,
      if (hasDictionary) RecompressedChunk.Start else 0L,
      starts.last - RecompressedChunk.Start,
      pages.iterator.map(_.uncompressedSize).sum
    )
    RecompressedChunk(
      column,
      stored.storedAs(to, place),
      pages.flatMap(_.parts),
      stored.bloomFilter,
      stored.columnIndex,
      stored.pageLocations.map(moved(_, dataPages))
    )
  }

  private def pagesOf(
      bytes: FileBytes,
      chunk: ChunkMeta,
      hidesCompression: Boolean
  ): Seq[RecompressedPage] = {
    val stored = new StoredPages(chunk, scratch, hidesCompression)
    val recompressor = new PageRecompressor(stored, to, scratch.codec)
    val pages = ArrayBuffer.empty[RecompressedPage]
    stored.foreach(bytes) { () =>
      val page = recompressor.page()
      held.add(page.size + SplicedPage.OverheadBytes)
      pages += page
    }
    pages.toSeq
  }

  private def moved(locations: PageLocations, pages: Seq[(RecompressedPage, Long)]): OffsetIndex = {
    val known = Option(locations.getPage_locations).getOrElse(Collections.emptyList)
    if (known.size != pages.size)
      throw new MalformedPage(s"an offset index of ${known.size} pages in a chunk of ${pages.size}")
    known.asScala.zip(pages).foreach { case (location, (page, start)) =>
      location.setOffset(start)
      location.setCompressed_page_size(page.size)
    }
    ParquetMetadataConverter.fromParquetOffsetIndex(locations)
  }
}
