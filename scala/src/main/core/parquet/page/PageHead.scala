package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.bytes.{CompactReader, FormatNames, HiddenCompression, MalformedPage}

import org.apache.parquet.column.Encoding
import org.apache.parquet.format.PageType
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** The header of the page being read (Parquet format, 'PageHeader'). Sizes in bytes. */
private[parquet] final class PageHead {

  /** Null for a page type that this version does not know. */
  var kind: PageType = _
  var uncompressedSize: Int = 0
  var compressedSize: Int = 0
  var values: Int = 0

  /** CRC-32 of the stored page, as an unsigned number; -1 if the header has none. */
  var checksum: Long = -1
  var encoding: Encoding = _

  // Only data pages of version 1 have these.
  var repetitionEncoding: Encoding = _
  var definitionEncoding: Encoding = _

  // Only data pages of version 2 have these.
  var repetitionSize: Int = 0
  var definitionSize: Int = 0
  var isCompressed: Boolean = true

  /** Reads a header; returns where it ends. */
  def read(bytes: Array[Byte], from: Int, end: Int): Int = {
    val in = new CompactReader(bytes, from, end)
    forget()
    in.readFields(PageHead.Required) {
      case 1 => kind = PageType.findByValue(in.readInt())
      case 2 => uncompressedSize = in.readInt()
      case 3 => compressedSize = in.readInt()
      case 4 => checksum = in.readInt() & 0xffffffffL
      case 5 => readDataPage(in)
      case 7 => readDictionaryPage(in)
      case 8 => readDataPageV2(in)
      case _ => in.skip()
    }
    if (!isComplete) throw new MalformedPage("its header is not complete")
    in.position
  }

  /** Fails if the page may be compressed although its header says otherwise. */
  def requireKnownCompression(codec: CompressionCodecName): Unit =
    if (kind == PageType.DATA_PAGE_V2 && !isCompressed && codec != CompressionCodecName.UNCOMPRESSED)
      throw new HiddenCompression(codec.name)

  private def forget(): Unit = {
    kind = null
    uncompressedSize = -1
    compressedSize = -1
    checksum = -1
    values = -1
    encoding = null
    repetitionEncoding = null
    definitionEncoding = null
    repetitionSize = -1
    definitionSize = -1
    isCompressed = true
  }

  private def isComplete: Boolean = uncompressedSize >= 0 && compressedSize >= 0 && (kind match {
    case PageType.DATA_PAGE =>
      values >= 0 && encoding != null && repetitionEncoding != null && definitionEncoding != null
    case PageType.DATA_PAGE_V2 =>
      values >= 0 && encoding != null && repetitionSize >= 0 && definitionSize >= 0
    case PageType.DICTIONARY_PAGE => values >= 0
    case _ => true
  })

  private def readDataPage(in: CompactReader): Unit = in.readStruct {
    case 1 => values = in.readInt()
    case 2 => encoding = FormatNames.encoding(in.readInt())
    case 3 => definitionEncoding = FormatNames.encoding(in.readInt())
    case 4 => repetitionEncoding = FormatNames.encoding(in.readInt())
    case _ => in.skip()
  }

  private def readDictionaryPage(in: CompactReader): Unit = in.readStruct {
    case 1 => values = in.readInt()
    case _ => in.skip()
  }

  private def readDataPageV2(in: CompactReader): Unit = in.readStruct {
    case 1 => values = in.readInt()
    case 4 => encoding = FormatNames.encoding(in.readInt())
    case 5 => definitionSize = in.readInt()
    case 6 => repetitionSize = in.readInt()
    case 7 => isCompressed = in.readBoolean()
    case _ => in.skip()
  }
}

private object PageHead {

  /** The fields that the format requires of every header: the page type and the sizes. */
  private val Required = CompactReader.fields(1, 2, 3)
}
