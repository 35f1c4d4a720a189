package io.deltaupkeep.parquet.merge

import java.util.zip.CRC32

import io.deltaupkeep.ByteText
import io.deltaupkeep.parquet.bytes.{FileBytes, MalformedPage, TooLarge}
import io.deltaupkeep.parquet.chunk.{ChunkScratch, DamagedPage}
import io.deltaupkeep.parquet.footer.ChunkMeta
import io.deltaupkeep.parquet.page.PageHead

import org.apache.parquet.format.PageType
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * The pages of a column chunk as they are stored, one after the other.
 *
 * @param hidesCompression whether the writer of the chunk marks compressed pages of version 2 as uncompressed
 */
private[parquet] final class StoredPages(chunk: ChunkMeta, scratch: ChunkScratch, hidesCompression: Boolean) {
  import StoredPages._

  private val crc = new CRC32

  /** The header of the current page. */
  val head = new PageHead
  private var bytes = Array.emptyByteArray

  /** Where the header of the current page starts in [[array]], and where the page itself starts. */
  var (headerAt, start) = (0, 0)

  def array: Array[Byte] = bytes

  /**
   * Calls `page` for the dictionary, if there is one, and for each data page. Readers skip pages of other types.
   *
   * @throws io.deltaupkeep.parquet.bytes.MalformedPage if the pages are not those of the chunk
   * @throws io.deltaupkeep.parquet.chunk.DamagedPage   if a checksum does not match
   */
  def foreach(file: FileBytes)(page: () => Unit): Unit = {
    if (chunk.size > Int.MaxValue)
      throw new TooLarge(s"a column chunk has ${ByteText.of(chunk.size)}", Int.MaxValue)
    read(file, chunk.size.toInt)(page)
  }

  /**
   * Calls `page` for the dictionary, and for a few of the data pages in the first bytes of the chunk, spread evenly.
   *
   * @param most bytes to read
   */
  def sample(file: FileBytes, most: Int, count: Int)(page: () => Unit): Unit = {
    val size = math.min(chunk.size, most.toLong).toInt
    var next = 0
    read(file, size) { () =>
      val isDue = isData && headerAt >= next
      if (isDue) next = headerAt + size / count
      if (isDue || !isData) page()
    }
  }

  /** Reads the pages that lie in the first bytes of the chunk. */
  private def read(file: FileBytes, size: Int)(page: () => Unit): Unit = {
    val slice = file.read(chunk.start, size)
    bytes = slice.array
    val end = slice.from + size
    val isWhole = size == chunk.size
    var at = slice.from
    var values = 0L
    def hasNext: Boolean = values < chunk.values && (isWhole || end - at >= HeadRoom) && {
      if (at >= end) throw new MalformedPage(s"the chunk ends after $values of ${chunk.values} values")
      headerAt = at
      start = head.read(bytes, at, end)
      isWhole || head.compressedSize <= end - start
    }
    while (hasNext) {
      check(end)
      if (head.kind == PageType.DICTIONARY_PAGE && at != slice.from)
        throw new MalformedPage("a dictionary page behind other pages")
      at = start + head.compressedSize
      if (isData) values += head.values
      if (isData || head.kind == PageType.DICTIONARY_PAGE) page()
    }
    if (values > chunk.values)
      throw new MalformedPage(s"$values values in a chunk of ${chunk.values}")
  }

  private def isData: Boolean = DataPages(head.kind)

  private def check(end: Int): Unit = {
    if (head.compressedSize > end - start) throw new MalformedPage("it runs past the end of its chunk")
    if (head.uncompressedSize > math.max(chunk.uncompressedSize, LongPage))
      throw new MalformedPage(s"${head.uncompressedSize} bytes in a chunk of ${chunk.uncompressedSize}")
    scratch.requireRoom(head.uncompressedSize.toLong, levels = 0)
    if (head.checksum >= 0) verifyChecksum()
  }

  private def verifyChecksum(): Unit = {
    crc.reset()
    crc.update(bytes, start, head.compressedSize)
    if (crc.getValue != head.checksum) throw new DamagedPage(chunk.path.mkString("."))
  }

  /** Bytes of the current page that are never compressed: the levels of version 2. */
  def levelBytes: Int =
    if (head.kind != PageType.DATA_PAGE_V2) 0
    else {
      if (hidesCompression) head.requireKnownCompression(chunk.codec)
      val levels = head.repetitionSize.toLong + head.definitionSize
      if (levels > math.min(head.compressedSize, head.uncompressedSize))
        throw new MalformedPage("its levels run past its end")
      levels.toInt
    }

  /** Decompresses the current page after its `levels`; the array holds it until the next call. */
  def decompressed(levels: Int): Array[Byte] = {
    val size = head.uncompressedSize - levels
    val data = scratch.page(size)
    val isCompressed = head.kind != PageType.DATA_PAGE_V2 || head.isCompressed
    val codec = if (isCompressed) chunk.codec else CompressionCodecName.UNCOMPRESSED
    scratch.codec.decompress(codec, bytes, start + levels, head.compressedSize - levels, data, 0, size)
    data
  }
}

private object StoredPages {
  private val DataPages = Set(PageType.DATA_PAGE, PageType.DATA_PAGE_V2)

  /** Up to this size, a page may be longer than its chunk's metadata says. */
  private val LongPage = 64L << 20

  /** More than a page's header takes, in bytes. */
  private val HeadRoom = 64 << 10
}
