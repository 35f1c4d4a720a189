package io.deltaupkeep.parquet.merge

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.Arrays
import java.util.zip.CRC32

import io.deltaupkeep.parquet.encoding.PageCodec

import org.apache.parquet.format.{PageHeader, PageType, Util}
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** A page ready to be written: `parts` are its header, levels that are stored uncompressed, and the rest. */
private[merge] final case class RecompressedPage(
    kind: PageType,
    values: Int,
    parts: Seq[Array[Byte]],
    uncompressedSize: Long
) {
  def size: Int = parts.iterator.map(_.length).sum
}

/**
 * Compresses the pages of a chunk with another codec. Their uncompressed bytes stay the same, and so does all that
 * their headers say but sizes and checksums.
 *
 * @param to the codec of the new pages
 */
private[merge] final class PageRecompressor(pages: StoredPages, to: CompressionCodecName, codec: PageCodec) {
  import pages.{array, head, start}

  private val crc = new CRC32

  /** The current page. It gets its own checksum. */
  def page(): RecompressedPage = {
    val header = StoredChunk.parsed("a page header") {
      Util.readPageHeader(new ByteArrayInputStream(array, pages.headerAt, start - pages.headerAt))
    }
    val body = if (head.kind == PageType.DATA_PAGE_V2) bodyOfV2(header) else Seq(wholeBody())
    val stored = encoded(header, body)
    RecompressedPage(
      head.kind,
      math.max(0, head.values),
      stored +: body,
      stored.length.toLong + head.uncompressedSize
    )
  }

  /** Of a page of version 1, or of a dictionary: all of it is compressed. */
  private def wholeBody(): Array[Byte] =
    codec.compress(to, pages.decompressed(levels = 0), head.uncompressedSize)

  /** Levels are never compressed, and values only if that makes them smaller. */
  private def bodyOfV2(header: PageHeader): Seq[Array[Byte]] = {
    val levels = pages.levelBytes
    val size = head.uncompressedSize - levels
    val data = pages.decompressed(levels)
    val compressed = codec.compress(to, data, size)
    val isSmaller = to != CompressionCodecName.UNCOMPRESSED && compressed.length < size
    header.getData_page_header_v2.setIs_compressed(isSmaller)
    Seq(
      Arrays.copyOfRange(array, start, start + levels),
      if (isSmaller) compressed else Arrays.copyOf(data, size)
    )
  }

  private def encoded(header: PageHeader, body: Seq[Array[Byte]]): Array[Byte] = {
    header.setCompressed_page_size(body.iterator.map(_.length).sum)
    if (header.isSetCrc) {
      crc.reset()
      body.foreach(part => crc.update(part, 0, part.length))
      header.setCrc(crc.getValue.toInt)
    }
    val out = new ByteArrayOutputStream
    Util.writePageHeader(header, out)
    out.toByteArray
  }
}
