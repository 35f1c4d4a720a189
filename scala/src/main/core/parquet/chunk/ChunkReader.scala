package io.deltaupkeep.parquet.chunk

import java.nio.ByteBuffer
import java.util.Arrays
import java.util.zip.CRC32

import scala.annotation.tailrec

import io.deltaupkeep.parquet.bytes.{ByteSink, Damage, LittleEndian, MalformedPage, Slice}
import io.deltaupkeep.parquet.encoding.{DeltaRun, LevelBuffer, RunLength, ValueShape, Values}
import io.deltaupkeep.parquet.footer.ChunkMeta
import io.deltaupkeep.parquet.page.{PageData, PageHead}

import org.apache.parquet.bytes.ByteBufferInputStream
import org.apache.parquet.column.{ColumnDescriptor, Encoding, ValuesType}
import org.apache.parquet.column.values.ValuesReader
import org.apache.parquet.format.PageType
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * Reads the pages of a column chunk one after the other. Levels and ids are decoded; PLAIN values stay in place.
 * Values in other encodings are decoded one by one and held as PLAIN values.
 *
 * The fields that [[next]] sets are valid until the next call. The dictionary is valid for the whole chunk.
 *
 * @param bytes  holds the chunk from `from` on
 * @param column as in the chunk's file
 * @param hidesCompression whether its writer marks compressed pages of version 2 as uncompressed
 */
private[parquet] final class ChunkReader(
    override val column: ColumnDescriptor,
    chunk: ChunkMeta,
    bytes: Array[Byte],
    from: Int,
    scratch: ChunkScratch,
    hidesCompression: Boolean = false
) extends PageData
    with RowPages {
  import ChunkReader._

  private val shape = ValueShape.of(column.getPrimitiveType)
  private val end = from + Math.toIntExact(chunk.size)
  private var at = from
  private var valuesRead = 0L
  private var rowsRead = 0L
  private var rowsBefore = 0L
  private val head = new PageHead
  private val crc = new CRC32

  override val repetition: LevelBuffer = scratch.repetition
  override val definition: LevelBuffer = scratch.definition
  var levels: Int = 0
  var nonNull: Int = 0
  var isDictionaryEncoded: Boolean = false
  override val values: Values = scratch.values
  override def ids: Array[Int] = scratch.ids

  /** Whether the page is stored as a page of version 1 with PLAIN values and this codec. */
  def isStoredAs(codec: CompressionCodecName): Boolean =
    head.kind == PageType.DATA_PAGE && head.encoding == Encoding.PLAIN && chunk.codec == codec &&
      (maxRepetition == 0 || head.repetitionEncoding == Encoding.RLE) &&
      (maxDefinition == 0 || head.definitionEncoding == Encoding.RLE)

  /** The page as it is stored, `storedSize` bytes of the file. */
  def storedBytes: Slice = Slice(bytes, at - head.compressedSize)

  def storedSize: Int = head.compressedSize

  def uncompressedSize: Int = head.uncompressedSize

  override val dictionary: Option[Values] = readDictionary()

  override def page: PageData = this

  override def isWhole: Boolean = true

  override def rows: Long = rowsRead

  override def firstRow: Long = if (repetition(0) == 0) rowsBefore else rowsBefore - 1

  /** Moves to the next data page. */
  @tailrec
  override def next(): Boolean = valuesRead < chunk.values && {
    readHeader()
    head.kind match {
      case PageType.DATA_PAGE => readV1()
      case PageType.DATA_PAGE_V2 => readV2()
      // The format allows other page types, which readers skip.
      case _ => levels = 0
    }
    if (valuesRead == 0 && levels > 0 && repetition(0) != 0)
      throw new MalformedPage("its first value goes on with a row that is not there")
    at += head.compressedSize
    valuesRead += levels
    rowsBefore = rowsRead
    rowsRead += repetition.occurrences(0, 0, levels)
    levels > 0 || next()
  }

  private def readDictionary(): Option[Values] = {
    val start = at
    readHeader()
    if (head.kind == PageType.DICTIONARY_PAGE) {
      if (shape.isBoolean) throw new MalformedPage("a dictionary of booleans")
      val size = head.uncompressedSize
      val page = scratch.dictionaryPage(size)
      scratch.codec.decompress(chunk.codec, bytes, at, head.compressedSize, page, 0, size)
      at += head.compressedSize
      Some(scratch.dictionary.set(shape, page, 0, size, head.values))
    } else {
      at = start
      None
    }
  }

  private def readHeader(): Unit = {
    if (at >= end)
      throw new MalformedPage(s"the chunk ends after $valuesRead of ${chunk.values} values")
    at = head.read(bytes, at, end)
    if (head.compressedSize > end - at) throw new MalformedPage("it runs past the end of its chunk")
    if (head.checksum >= 0) verifyChecksum()
    // The buffer is allocated before a codec can notice that the page is shorter.
    if (head.uncompressedSize > math.max(chunk.uncompressedSize, LongPage))
      throw new MalformedPage(s"${head.uncompressedSize} bytes in a chunk of ${chunk.uncompressedSize}")
    scratch.requireRoom(head.uncompressedSize.toLong, math.max(0, head.values))
  }

  /** The new page gets its own checksum, which would also match damaged values. */
  private def verifyChecksum(): Unit = {
    crc.reset()
    crc.update(bytes, at, head.compressedSize)
    if (crc.getValue != head.checksum) throw new DamagedPage(column.getPath.mkString("."))
  }

  private def readLevelCount(): Unit = {
    levels = head.values
    if (levels > chunk.values - valuesRead)
      throw new MalformedPage(s"${valuesRead + levels} values in a chunk of ${chunk.values}")
  }

  private def readV1(): Unit = {
    val size = head.uncompressedSize
    val data = scratch.page(size)
    scratch.codec.decompress(chunk.codec, bytes, at, head.compressedSize, data, 0, size)
    readLevelCount()
    var position = readLevelsV1(
      repetition,
      column.getMaxRepetitionLevel,
      head.repetitionEncoding,
      ValuesType.REPETITION_LEVEL,
      data,
      0,
      size
    )
    position = readLevelsV1(
      definition,
      column.getMaxDefinitionLevel,
      head.definitionEncoding,
      ValuesType.DEFINITION_LEVEL,
      data,
      position,
      size
    )
    readValues(head.encoding, data, position, size)
  }

  private def readLevelsV1(
      into: LevelBuffer,
      maxLevel: Int,
      encoding: Encoding,
      kind: ValuesType,
      data: Array[Byte],
      position: Int,
      size: Int
  ): Int =
    if (maxLevel == 0) {
      into.decode(data, position, position, 0, levels)
      position
    } else if (encoding == Encoding.RLE) {
      val length = if (size - position < 4) -1 else LittleEndian.getInt(data, position)
      if (length < 0 || length > size - position - 4) throw new MalformedPage("its levels run past its end")
      into.decode(data, position + 4, position + 4 + length, maxLevel, levels)
      position + 4 + length
    } else {
      val stream = ByteBufferInputStream.wrap(ByteBuffer.wrap(data, position, size - position).slice())
      val reader = encoding.getValuesReader(column, kind)
      into.clear()
      Damage.in(s"levels encoded as $encoding") {
        reader.initFromPage(levels, stream)
        var i = 0
        while (i < levels) {
          into.add(reader.readInteger(), 1)
          i += 1
        }
      }
      into.requireUpTo(maxLevel)
      position + stream.position().toInt
    }

  private def readV2(): Unit = {
    readLevelCount()
    if (hidesCompression) head.requireKnownCompression(chunk.codec)
    if (
      head.repetitionSize.toLong + head.definitionSize > math.min(head.compressedSize, head.uncompressedSize)
    )
      throw new MalformedPage("its levels run past its end")
    val repetitionEnd = at + head.repetitionSize
    val definitionEnd = repetitionEnd + head.definitionSize
    repetition.decode(bytes, at, repetitionEnd, column.getMaxRepetitionLevel, levels)
    definition.decode(bytes, repetitionEnd, definitionEnd, column.getMaxDefinitionLevel, levels)
    val levelBytes = definitionEnd - at
    val size = head.uncompressedSize - levelBytes
    val compressed = head.compressedSize - levelBytes
    if (head.isCompressed) {
      val data = scratch.page(size)
      scratch.codec.decompress(chunk.codec, bytes, definitionEnd, compressed, data, 0, size)
      readValues(head.encoding, data, 0, size)
    } else if (size == compressed) readValues(head.encoding, bytes, definitionEnd, definitionEnd + size)
    else throw new MalformedPage(s"$compressed bytes where the header says $size")
  }

  private def readValues(encoding: Encoding, data: Array[Byte], position: Int, limit: Int): Unit = {
    nonNull = definition.occurrences(column.getMaxDefinitionLevel, 0, levels)
    isDictionaryEncoded = encoding.usesDictionary()
    if (nonNull == 0) {
      isDictionaryEncoded = false
      values.set(shape, data, position, position, 0)
    } else if (isDictionaryEncoded) readIds(data, position, limit)
    else if (encoding == Encoding.PLAIN && shape.isBoolean) readBits(data, position, limit)
    else if (encoding == Encoding.PLAIN) values.set(shape, data, position, limit, nonNull)
    else transcode(encoding, data, position, limit)
  }

  private def readIds(data: Array[Byte], position: Int, limit: Int): Unit = {
    val entries =
      dictionary.getOrElse(throw new MalformedPage("it refers to a dictionary that is not there")).size
    val ids = scratch.idsFor(nonNull)
    val width = if (position < limit) data(position).toInt else -1
    if (width < 0 || width > 32) throw new MalformedPage(s"ids of $width bits")
    val run = RunLength.decode(data, position + 1, limit, width, nonNull, ids)
    if (run != RunLength.Mixed) Arrays.fill(ids, 0, nonNull, run)
    var i = 0
    while (i < nonNull) {
      if (ids(i) < 0 || ids(i) >= entries)
        throw new MalformedPage(s"id ${ids(i)} of a dictionary of $entries")
      i += 1
    }
  }

  private def readBits(data: Array[Byte], position: Int, limit: Int): Unit = {
    if ((nonNull + 7) / 8 > limit - position) throw new MalformedPage(s"$nonNull booleans are cut off")
    val plain = scratch.plain
    plain.clear()
    plain.reserve(nonNull)
    var i = 0
    while (i < nonNull) {
      plain.put((data(position + (i >>> 3)) >>> (i & 7)) & 1)
      i += 1
    }
    values.set(shape, plain.array, 0, plain.length, nonNull)
    ()
  }

  private def transcode(encoding: Encoding, data: Array[Byte], position: Int, limit: Int): Unit = {
    DeltaRun.check(encoding, data, position, limit, levels)
    val reader = encoding.getValuesReader(column, ValuesType.VALUES)
    val stream = ByteBufferInputStream.wrap(ByteBuffer.wrap(data, position, limit - position).slice())
    val plain = scratch.plain
    plain.clear()
    Damage.in(s"values encoded as $encoding") {
      reader.initFromPage(levels, stream)
      var i = 0
      while (i < nonNull) {
        copyValue(reader, column.getPrimitiveType.getPrimitiveTypeName, shape.width, plain)
        // Shared prefixes are stored once, so values may outgrow their page.
        scratch.requireRoom(plain.length.toLong, levels)
        i += 1
      }
    }
    values.set(shape, plain.array, 0, plain.length, nonNull)
    ()
  }
}

/** A page whose bytes do not match its checksum. */
final class DamagedPage(val column: String)
    extends RuntimeException(s"The checksum of a page of column $column does not match its bytes")

private object ChunkReader {

  /** Up to this size, a page may be longer than its chunk's metadata says. */
  private val LongPage = 64L << 20

  private def copyValue(
      from: ValuesReader,
      kind: PrimitiveTypeName,
      width: Int,
      to: ByteSink
  ): Unit = kind match {
    case PrimitiveTypeName.BOOLEAN => to.put(if (from.readBoolean()) 1 else 0)
    case PrimitiveTypeName.INT32 => to.putInt(from.readInteger())
    case PrimitiveTypeName.INT64 => to.putLong(from.readLong())
    case PrimitiveTypeName.FLOAT => to.putInt(java.lang.Float.floatToRawIntBits(from.readFloat()))
    case PrimitiveTypeName.DOUBLE => to.putLong(java.lang.Double.doubleToRawLongBits(from.readDouble()))
    case PrimitiveTypeName.BINARY =>
      val value = from.readBytes().getBytesUnsafe
      to.putInt(value.length)
      to.putBytes(value, 0, value.length)
    case PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY | PrimitiveTypeName.INT96 =>
      val value = from.readBytes().getBytesUnsafe
      if (value.length != width) throw new MalformedPage(s"a value of ${value.length} bytes, not $width")
      to.putBytes(value, 0, value.length)
  }
}
