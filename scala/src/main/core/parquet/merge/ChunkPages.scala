package io.deltaupkeep.parquet.merge

import scala.collection.mutable.ArrayBuffer

import io.deltaupkeep.parquet.bytes.Slice
import io.deltaupkeep.parquet.encoding.{PageCodec, ValueDictionary}
import io.deltaupkeep.parquet.page.HeldPages

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * The finished pages of a chunk: pages of ids, then PLAIN pages. A chunk without a dictionary has only the latter.
 *
 * @param held counts the bytes of all pages of the row group
 */
private[merge] final class ChunkPages(compression: CompressionCodecName, codec: PageCodec, held: HeldPages) {

  private val pages = ArrayBuffer.empty[SplicedPage]

  def compress(bytes: Array[Byte], count: Int): Array[Byte] = codec.compress(compression, bytes, count)

  /** Counts bytes that are held until the row group is written. */
  def hold(bytes: Int): Unit = held.add(bytes)

  def add(page: SplicedPage): Unit = {
    hold(page.size + SplicedPage.OverheadBytes)
    pages += page
  }

  /** Whether some page refers to the dictionary. */
  def hasIds: Boolean = pages.exists(isOfIds)

  def dictionaryPage(dictionary: ValueDictionary): DictionaryPage = {
    val bytes = compress(dictionary.array, dictionary.byteSize)
    hold(bytes.length)
    new DictionaryPage(BytesInput.from(bytes), dictionary.byteSize, dictionary.size, Encoding.PLAIN)
  }

  /**
   * The pages in the order they are written. Pages without values may have come before the chunk had a dictionary.
   * They become pages of ids, because parquet-java writes PLAIN pages only after those. Spark fails to read lists
   * whose pages come in another order.
   */
  def inOrder: Seq[SplicedPage] = {
    val beforeIds = math.max(0, pages.indexWhere(isOfIds))
    pages.take(beforeIds).map(encodedAsIds).toSeq ++ pages.drop(beforeIds)
  }

  private def isOfIds(page: SplicedPage): Boolean = page.encoding == Encoding.RLE_DICTIONARY

  /** Turns a page without values into a page of ids. */
  private def encodedAsIds(page: SplicedPage): SplicedPage = {
    val size = page.uncompressedSize
    val levels = new Array[Byte](size + 1)
    codec.decompress(compression, page.bytes.array, page.bytes.from, page.size, levels, 0, size)
    levels(size) = 0 // bit width of the ids
    val compressed = compress(levels, levels.length)
    page.copy(
      uncompressedSize = levels.length,
      bytes = Slice(compressed, 0),
      size = compressed.length,
      encoding = Encoding.RLE_DICTIONARY
    )
  }
}
