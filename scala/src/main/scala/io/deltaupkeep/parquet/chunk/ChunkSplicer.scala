package io.deltaupkeep.parquet.chunk

import scala.collection.mutable.ArrayBuffer

import io.deltaupkeep.parquet.bytes.{LittleEndian, Slice}
import io.deltaupkeep.parquet.page.{
  BloomValues,
  ColumnBuffer,
  HeldPages,
  LevelBuffer,
  LevelMap,
  PageData,
  PageLayout,
  PageSlice,
  PageStatistics,
  RunLength,
  SharedBounds,
  ValueDictionary,
  ValueShape,
  Values
}

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * Makes one column chunk out of many: pages are cut anew, and no value becomes an object.
 *
 * Values go into a dictionary as parquet-java's writer does it: as long as the dictionary fits into its
 * page, and only if the first page gains from it; after that they are PLAIN. Ids of an input's dictionary are
 * mapped to the output's, so that only distinct values are looked at.
 *
 * @param held what the pages of the row group take together
 */
private[parquet] final class ChunkSplicer(
    column: ColumnDescriptor,
    layout: PageLayout,
    compression: CompressionCodecName,
    scratch: ChunkScratch,
    bloom: Option[BloomValues],
    held: HeldPages
) {
  private val maxRepetition = column.getMaxRepetitionLevel
  private val maxDefinition = column.getMaxDefinitionLevel
  private val shape = ValueShape.of(column.getPrimitiveType)
  private val statistics = new PageStatistics(column.getPrimitiveType)
  private val bounds = new SharedBounds(column.getPrimitiveType)
  private val pages = ArrayBuffer.empty[SplicedPage]

  private val out = scratch.output
  private val dictionary = out.dictionary
  // Booleans are bits already; INT96 and the like have an order of their own, but a dictionary serves them.
  private var usesDictionary = !shape.isBoolean
  private var dictionaryPages = 0

  // The page under construction.
  private val repetition = out.repetition
  private val definition = out.definition
  private val plain = out.plain
  private val body = out.body
  private var rows = 0
  private var nonNull = 0
  private var idCount = 0
  private var plainBytes = 0L
  private val slice = new PageSlice

  dictionary.reset(shape, layout.dictionaryBytes)
  out.clear()

  /** Appends a chunk. */
  def append(input: ChunkReader, levels: LevelMap): Unit = {
    val mapping = input.dictionary.filter(_ => usesDictionary).flatMap(idsOf)
    while (input.next())
      if (isKept(input, levels)) keep(input) else appendPage(input, levels, mapping)
  }

  /** Appends values that were never in a file. */
  def append(input: ColumnBuffer): Unit =
    if (input.levels > 0)
      appendPage(input.complete(), LevelMap(0 to maxDefinition, maxRepetition), None)

  private def appendPage(input: PageData, levels: LevelMap, mapping: Option[Array[Int]]): Unit = {
    var level = 0
    var value = 0
    while (level < input.levels) {
      findSlice(input, level, value)
      appendLevels(input, levels, level, slice.levelEnd)
      appendValues(input, mapping, value, slice.valueEnd)
      level = slice.levelEnd
      value = slice.valueEnd
    }
  }

  /** Where the page under construction ends within that of an input; begins another one if it is full. */
  private def findSlice(input: PageData, level: Int, value: Int): Unit = {
    if (isFull && input.repetition(level) == 0) flush()
    slice.find(input, level, value, layout.pageRows - rows, layout.pageBytes - pageBytes)
    // A row of a list may be long, and go on over pages.
    if (!input.repetition.isAll(0))
      scratch.requireRoom(plainBytes + slice.plainBytes, definition.size + slice.levelEnd - level)
  }

  /** Whether a page can stand in the output as it is stored. Small ones would make many small pages. */
  private def isKept(input: ChunkReader, levels: LevelMap): Boolean =
    !usesDictionary && bloom.isEmpty && input.isStoredAs(compression) &&
      levels.isIdentity && input.maxDefinition == maxDefinition && input.maxRepetition == 0 &&
      input.levels <= layout.pageRows && input.uncompressedSize <= 2 * layout.pageBytes &&
      (input.levels >= layout.pageRows / 2 || input.uncompressedSize >= layout.pageBytes / 2)

  private def keep(input: ChunkReader): Unit = {
    if (definition.size > 0) flush()
    val values = input.values
    statistics.add(values.array, values.start(0), values.start(input.nonNull))
    hold(SplicedPage(
      input.levels,
      input.levels,
      input.uncompressedSize,
      input.storedBytes,
      input.storedSize,
      resultOfStatistics((input.levels - input.nonNull).toLong),
      Encoding.PLAIN
    ))
    statistics.clear()
  }

  /** Appends rows that have no value; `level` says how far each is defined. */
  def appendNulls(count: Long, level: Int): Unit = {
    var left = count
    while (left > 0) {
      if (isFull) flush()
      val taken = math.min(left, (layout.pageRows - rows).toLong).toInt
      repetition.add(0, taken)
      definition.add(level, taken)
      rows += taken
      left -= taken
    }
  }

  /** Appends as many empty or null values as the shape of another column gives. */
  def appendShape(input: ChunkReader, levels: LevelMap): Unit =
    while (input.next()) {
      var level = 0
      var value = 0
      while (level < input.levels) {
        findSlice(input, level, value)
        appendLevels(input, levels, level, slice.levelEnd)
        level = slice.levelEnd
        value = slice.valueEnd
      }
    }

  def finish(): SplicedChunk = {
    if (definition.size > 0) flush()
    if (dictionaryPages > 0) bloom.foreach(_.addAll(dictionary))
    val withoutValues = if (dictionaryPages > 0) pages.indexWhere(_.encoding != Encoding.PLAIN) else 0
    SplicedChunk(
      column,
      compression,
      Option.when(dictionaryPages > 0)(dictionaryPage()),
      pages.take(withoutValues).map(encodedAsIds).toSeq ++ pages.drop(withoutValues),
      bloom.map(_.result())
    )
  }

  /** The output's ids for the entries of an input's dictionary; None, and the end of ours, if they do not fit. */
  private def idsOf(entries: Values): Option[Array[Int]] = {
    val before = dictionary.size
    val mapping = new Array[Int](entries.size)
    var i = 0
    while (i < entries.size) {
      val id = dictionary.idOf(entries.array, entries.start(i), entries.start(i + 1))
      if (id == ValueDictionary.Full) {
        endDictionary(before)
        return None
      }
      mapping(i) = id
      i += 1
    }
    Some(mapping)
  }

  private def isFull: Boolean = rows >= layout.pageRows || pageBytes >= layout.pageBytes

  /** As parquet-java counts them, but for runs of levels. */
  private def pageBytes: Long =
    plainBytes + repetition.packedBytes(maxRepetition) + definition.packedBytes(maxDefinition)

  private def appendLevels(input: PageData, levels: LevelMap, from: Int, to: Int): Unit = {
    rows += input.repetition.occurrences(0, from, to)
    if (levels.isIdentity && !leavesOut(input, levels)) {
      repetition.add(input.repetition, from, to)
      definition.add(input.definition, from, to)
    } else {
      var i = from
      while (i < to) {
        if (input.repetition(i) <= levels.maxRepetition) {
          repetition.add(input.repetition(i), 1)
          definition.add(levels.of(input.definition(i)), 1)
        }
        i += 1
      }
    }
  }

  private def leavesOut(input: PageData, levels: LevelMap): Boolean =
    levels.maxRepetition < input.maxRepetition

  private def appendValues(input: PageData, mapping: Option[Array[Int]], from: Int, to: Int): Unit = {
    nonNull += to - from
    plainBytes += slice.plainBytes
    if (to > from) {
      if (usesDictionary && input.isDictionaryEncoded) appendIds(input.ids, mapping.get, from, to)
      else {
        if (usesDictionary && !hash(input.values, from, to)) endDictionary(sizeBeforeHash)
        if (!usesDictionary) {
          if (input.isDictionaryEncoded) gather(input.ids, input.dictionary.get, from, to)
          else
            plain.putBytes(input.values.array, input.values.start(from), input.values.encodedLength(from, to))
        }
      }
    }
  }

  private def appendIds(source: Array[Int], mapping: Array[Int], from: Int, to: Int): Unit = {
    out.reserveIds(idCount, to - from)
    val ids = out.ids
    var i = from
    var next = idCount
    while (i < to) {
      ids(next) = mapping(source(i))
      next += 1
      i += 1
    }
    idCount = next
  }

  private var sizeBeforeHash = 0

  /** Looks PLAIN values up in the dictionary; if one does not fit, false, and the page is as it was. */
  private def hash(values: Values, from: Int, to: Int): Boolean = {
    out.reserveIds(idCount, to - from)
    sizeBeforeHash = dictionary.size
    val ids = out.ids
    var i = from
    var next = idCount
    while (i < to) {
      val id = dictionary.idOf(values.array, values.start(i), values.start(i + 1))
      if (id == ValueDictionary.Full) return false
      ids(next) = id
      next += 1
      i += 1
    }
    idCount = next
    true
  }

  private def gather(source: Array[Int], entries: Values, from: Int, to: Int): Unit = {
    var i = from
    if (shape.width == 8) {
      plain.reserve((to - from) * 8)
      val (target, base, first) = (plain.array, plain.length, entries.start(0))
      while (i < to) {
        LittleEndian.putLong(
          target,
          base + 8 * (i - from),
          LittleEndian.getLong(entries.array, first + 8 * source(i))
        )
        i += 1
      }
      plain.advance((to - from) * 8)
    } else
      while (i < to) {
        val start = entries.start(source(i))
        plain.putBytes(entries.array, start, entries.start(source(i) + 1) - start)
        i += 1
      }
  }

  /** From here on values are PLAIN, those of this page too. Earlier pages keep the first `size` entries. */
  private def endDictionary(size: Int): Unit = {
    dictionary.truncate(size)
    usesDictionary = false
    var i = 0
    while (i < idCount) {
      val id = out.ids(i)
      val start = dictionary.start(id)
      plain.putBytes(dictionary.array, start, dictionary.start(id + 1) - start)
      i += 1
    }
    idCount = 0
  }

  private def flush(): Unit = {
    if (usesDictionary && dictionaryPages == 0 && idCount > 0 && !gainsFromDictionary)
      endDictionary(dictionary.size)
    body.clear()
    putLevels(repetition, maxRepetition)
    putLevels(definition, maxDefinition)
    val isOfIds = usesDictionary && (idCount > 0 || dictionaryPages > 0)
    val encoding = if (isOfIds) putIds() else putPlain()
    val nulls = definition.size - nonNull
    val compressed = scratch.codec.compress(compression, body.array, body.length)
    hold(SplicedPage(
      definition.size,
      rows,
      body.length,
      Slice(compressed, 0),
      compressed.length,
      resultOfStatistics(nulls.toLong),
      encoding
    ))
    statistics.clear()
    repetition.clear()
    definition.clear()
    plain.clear()
    idCount = 0
    plainBytes = 0
    nonNull = 0
    rows = 0
  }

  private def resultOfStatistics(nulls: Long): Statistics[_ <: Comparable[_]] =
    bounds.share(statistics.result(nulls))(held.add)

  private def hold(page: SplicedPage): Unit = {
    held.add(page.size + SplicedPage.OverheadBytes)
    pages += page
  }

  /** Whether dictionary and ids take less than the values: parquet-java asks the same of the first page. */
  private def gainsFromDictionary: Boolean =
    idCount.toLong * RunLength.widthOf(dictionary.size - 1) / 8 + dictionary.byteSize < plainBytes

  private def putLevels(levels: LevelBuffer, maxLevel: Int): Unit =
    if (maxLevel > 0) {
      val lengthAt = body.length
      body.putInt(0)
      levels.encode(maxLevel, body)
      LittleEndian.putInt(body.array, lengthAt, body.length - lengthAt - 4)
    }

  private def putIds(): Encoding = {
    val width = RunLength.widthOf(dictionary.size - 1)
    body.put(width)
    RunLength.encode(out.ids, idCount, width, body)
    addEntriesToStatistics()
    dictionaryPages += 1
    Encoding.RLE_DICTIONARY
  }

  /**
   * A page without values as one of ids. It was made before the chunk had a dictionary; but the PLAIN pages of a chunk
   * follow those of ids, as parquet-java writes them: Spark fails to read lists whose pages come the other way.
   */
  private def encodedAsIds(page: SplicedPage): SplicedPage = {
    val size = page.uncompressedSize
    val levels = new Array[Byte](size + 1)
    scratch.codec.decompress(compression, page.bytes.array, page.bytes.from, page.size, levels, 0, size)
    levels(size) = 0 // bits of an id
    val compressed = scratch.codec.compress(compression, levels, levels.length)
    page.copy(
      uncompressedSize = levels.length,
      bytes = Slice(compressed, 0),
      size = compressed.length,
      encoding = Encoding.RLE_DICTIONARY
    )
  }

  /** Each entry that the page refers to counts once, in the order in which they lie. */
  private def addEntriesToStatistics(): Unit = {
    val (ids, seen) = (out.ids, out.noneSeen(dictionary.size))
    var i = 0
    while (i < idCount) {
      seen(ids(i) >>> 6) |= 1L << ids(i)
      i += 1
    }
    var first = nextBit(seen, 0, set = true)
    while (first < dictionary.size) {
      val end = math.min(dictionary.size, nextBit(seen, first, set = false))
      statistics.add(dictionary.array, dictionary.start(first), dictionary.start(end))
      first = nextBit(seen, end, set = true)
    }
  }

  /** The first bit from `from` on that is set, or is not; beyond the entries where there is none. */
  private def nextBit(bits: Array[Long], from: Int, set: Boolean): Int = {
    val words = (dictionary.size + 63) >>> 6
    var word = from >>> 6
    if (word >= words) from
    else {
      val flip = if (set) 0L else -1L
      var found = (bits(word) ^ flip) & (-1L << from)
      while (found == 0 && word + 1 < words) {
        word += 1
        found = bits(word) ^ flip
      }
      if (found == 0) words << 6 else (word << 6) + java.lang.Long.numberOfTrailingZeros(found)
    }
  }

  private def putPlain(): Encoding = {
    statistics.add(plain.array, 0, plain.length)
    bloom.foreach(_.addPlain(plain.array, plain.length))
    if (shape.isBoolean) putBits() else body.putBytes(plain.array, 0, plain.length)
    Encoding.PLAIN
  }

  private def putBits(): Unit = {
    var i = 0
    while (i < plain.length) {
      var byte = 0
      var bit = 0
      while (bit < 8 && i < plain.length) {
        byte |= plain.array(i) << bit
        bit += 1
        i += 1
      }
      body.put(byte)
    }
  }

  private def dictionaryPage(): DictionaryPage = {
    val bytes = scratch.codec.compress(compression, dictionary.array, dictionary.byteSize)
    held.add(bytes.length)
    new DictionaryPage(BytesInput.from(bytes), dictionary.byteSize, dictionary.size, Encoding.PLAIN)
  }
}
