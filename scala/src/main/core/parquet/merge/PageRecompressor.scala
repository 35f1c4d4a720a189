package io.deltaupkeep.parquet.merge

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.Arrays
import java.util.zip.CRC32

import io.deltaupkeep.parquet.bytes.MalformedPage
import io.deltaupkeep.parquet.chunk.{ChunkScratch, DamagedPage}
import io.deltaupkeep.parquet.footer.ChunkMeta
import io.deltaupkeep.parquet.page.PageHead

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
 * @param path of the column, for errors
 * @param to   the codec of the new pages
 * @param hidesCompression whether the writer of the chunk marks compressed pages of version 2 as uncompressed
 */
private[merge] final class PageRecompressor(
    path: Seq[String],
    chunk: ChunkMeta,
    to: CompressionCodecName,
    scratch: ChunkScratch,
    hidesCompression: Boolean
) {
  import PageRecompressor._

  private val head = new PageHead
  private val crc = new CRC32

  /** Recompresses the page whose header starts at `from`; returns it and where it ends. */
  def next(bytes: Array[Byte], from: Int, end: Int): (RecompressedPage, Int) = {
    val start = head.read(bytes, from, end)
    if (head.compressedSize > end - start) throw new MalformedPage("it runs past the end of its chunk")
    if (head.uncompressedSize > math.max(chunk.uncompressedSize, LongPage))
      throw new MalformedPage(s"${head.uncompressedSize} bytes in a chunk of ${chunk.uncompressedSize}")
    scratch.requireRoom(head.uncompressedSize.toLong, levels = 0)
    if (head.checksum >= 0) verifyChecksum(bytes, start)
    val header = StoredChunk.parsed("a page header") {
      Util.readPageHeader(new ByteArrayInputStream(bytes, from, start - from))
    }
    val body =
      if (head.kind == PageType.DATA_PAGE_V2) bodyOfV2(bytes, start, header) else Seq(bodyOf(bytes, start))
    val stored = encoded(header, body)
    val page = RecompressedPage(
      head.kind,
      math.max(0, head.values),
      stored +: body,
      stored.length.toLong + head.uncompressedSize
    )
    (page, start + head.compressedSize)
  }

  /** The new page gets its own checksum, which would also match damaged values. */
  private def verifyChecksum(bytes: Array[Byte], start: Int): Unit = {
    crc.reset()
    crc.update(bytes, start, head.compressedSize)
    if (crc.getValue != head.checksum) throw new DamagedPage(path.mkString("."))
  }

  /** Of a page of version 1, or of a dictionary: all of it is compressed. */
  private def bodyOf(bytes: Array[Byte], start: Int): Array[Byte] = {
    val size = head.uncompressedSize
    val data = scratch.page(size)
    scratch.codec.decompress(chunk.codec, bytes, start, head.compressedSize, data, 0, size)
    scratch.codec.compress(to, data, size)
  }

  /** Levels are never compressed, and values only if that makes them smaller. */
  private def bodyOfV2(bytes: Array[Byte], start: Int, header: PageHeader): Seq[Array[Byte]] = {
    if (hidesCompression) head.requireKnownCompression(chunk.codec)
    val levelBytes = head.repetitionSize.toLong + head.definitionSize
    if (levelBytes > math.min(head.compressedSize, head.uncompressedSize))
      throw new MalformedPage("its levels run past its end")
    val valuesAt = start + levelBytes.toInt
    val size = head.uncompressedSize - levelBytes.toInt
    val data = scratch.page(size)
    val codec = if (head.isCompressed) chunk.codec else CompressionCodecName.UNCOMPRESSED
    scratch.codec.decompress(codec, bytes, valuesAt, head.compressedSize - levelBytes.toInt, data, 0, size)
    val compressed = scratch.codec.compress(to, data, size)
    val isSmaller = to != CompressionCodecName.UNCOMPRESSED && compressed.length < size
    header.getData_page_header_v2.setIs_compressed(isSmaller)
    Seq(
      Arrays.copyOfRange(bytes, start, valuesAt),
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

private object PageRecompressor {

  /** Up to this size, a page may be longer than its chunk's metadata says. */
  private val LongPage = 64L << 20
}
