package io.deltaupkeep.parquet.merge

import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian}
import io.deltaupkeep.parquet.chunk.OutputScratch
import io.deltaupkeep.parquet.encoding.{RunLength, ValueDictionary, ValueShape, Values}
import io.deltaupkeep.parquet.page.{BloomValues, PageData, PageStatistics}

import org.apache.parquet.column.Encoding

/**
 * Encodes the values of a chunk, page by page: as dictionary ids, then PLAIN once the dictionary ends.
 *
 * A dictionary is used as in parquet-java's writer: as long as it fits into its page, and only if the first page gains
 * from it. No value becomes an object.
 *
 * @param dictionaryBytes largest size of the dictionary page
 * @param scratch         holds the values of the page, and the dictionary
 */
private[merge] final class ValueEncoder(
    shape: ValueShape,
    dictionaryBytes: Int,
    scratch: OutputScratch,
    bloom: Option[BloomValues]
) {
  import ValueEncoder._

  private val ids = scratch.ids
  private val plain = scratch.plain
  // Booleans are bits already. INT96 and the like have their own order, but a dictionary suits them.
  private var use: DictionaryUse = if (shape.isBoolean) DictionaryUse.Ended else DictionaryUse.Untried
  private var count = 0
  private var bytesOfIds = 0L

  /** The entries that pages of ids refer to. */
  val dictionary: ValueDictionary = scratch.dictionary

  dictionary.reset(shape, dictionaryBytes)

  /** Number of values of the page. */
  def size: Int = count

  /** Size of the page's values in PLAIN encoding, whatever their final encoding. */
  def plainBytes: Long = bytesOfIds + plain.length

  /** Whether values become ids as long as they fit into the dictionary. */
  def usesDictionary: Boolean = use ne DictionaryUse.Ended

  /** Finds the ids of all entries of another dictionary. If one does not fit, this dictionary ends. */
  def mapAll(entries: EntryMapping): Unit = {
    val before = dictionary.size
    if (!entries.mapAll(dictionary)) endDictionary(before)
  }

  /** Like [[mapAll]], for the entries that a page refers to. */
  def map(page: PageData, entries: EntryMapping): Unit = if (usesDictionary && page.isDictionaryEncoded) {
    val before = dictionary.size
    if (!entries.map(page.ids, page.nonNull, dictionary)) endDictionary(before)
  }

  /** Appends PLAIN values. */
  def append(values: Values, from: Int, to: Int): Unit = {
    if (usesDictionary) hash(values, from, to)
    if (!usesDictionary) plain.putBytes(values.array, values.start(from), values.encodedLength(from, to))
    count += to - from
  }

  /**
   * Appends values of another dictionary by their ids there, while this one is in use.
   *
   * @param entries of that dictionary; [[map]] has found all that are needed
   * @param bytes   size of the values in PLAIN encoding
   */
  def appendMapped(source: Array[Int], entries: EntryMapping, from: Int, to: Int, bytes: Long): Unit = {
    ids.reserve(to - from)
    val (target, base, mapping) = (ids.array, ids.size - from, entries.ids)
    var i = from
    while (i < to) {
      target(base + i) = mapping(source(i))
      i += 1
    }
    ids.advance(to - from)
    bytesOfIds += bytes
    count += to - from
  }

  /** Appends entries of another dictionary by their ids there, as PLAIN values. */
  def appendEntries(source: Array[Int], entries: Values, from: Int, to: Int): Unit = {
    if (shape.width == 8) appendLongs(source, entries, from, to)
    else {
      var i = from
      while (i < to) {
        val start = entries.start(source(i))
        plain.putBytes(entries.array, start, entries.start(source(i) + 1) - start)
        i += 1
      }
    }
    count += to - from
  }

  private def appendLongs(source: Array[Int], entries: Values, from: Int, to: Int): Unit =
    if (to > from) {
      plain.reserve((to - from) * 8)
      val (target, base, first) = (plain.array, plain.length, entries.start(0))
      var i = from
      while (i < to) {
        val value = LittleEndian.getLong(entries.array, first + 8 * source(i))
        LittleEndian.putLong(target, base + 8 * (i - from), value)
        i += 1
      }
      plain.advance((to - from) * 8)
    }

  /** Appends PLAIN values as ids; if one does not fit, the dictionary ends and none are appended. */
  private def hash(values: Values, from: Int, to: Int): Unit = {
    val before = dictionary.size
    ids.reserve(to - from)
    if (findIds(values, from, to, ids.array, ids.size)) {
      ids.advance(to - from)
      bytesOfIds += values.encodedLength(from, to)
    } else endDictionary(before)
  }

  /** Looks values up in the dictionary and adds new ones; false as soon as one does not fit. */
  private def findIds(values: Values, from: Int, to: Int, into: Array[Int], at: Int): Boolean = {
    var i = from
    while (i < to) {
      val id = dictionary.idOf(values.array, values.start(i), values.start(i + 1))
      if (id == ValueDictionary.Full) return false
      into(at + i - from) = id
      i += 1
    }
    true
  }

  /** From here on values are PLAIN, including those of this page. Earlier pages keep the first `size` entries. */
  private def endDictionary(size: Int): Unit = {
    dictionary.truncate(size)
    use = DictionaryUse.Ended
    var i = 0
    while (i < ids.size) {
      val id = ids.array(i)
      val start = dictionary.start(id)
      plain.putBytes(dictionary.array, start, dictionary.start(id + 1) - start)
      i += 1
    }
    ids.clear()
    bytesOfIds = 0
  }

  /** Encodes the values of the page, with their bounds, and begins the next one. */
  def encode(body: ByteSink, statistics: PageStatistics): Encoding = {
    if (use == DictionaryUse.Untried && ids.size > 0) tryDictionary()
    val encoding = if (use == DictionaryUse.OfPages) putIds(body, statistics) else putPlain(body, statistics)
    ids.clear()
    plain.clear()
    bytesOfIds = 0
    count = 0
    encoding
  }

  /** As parquet-java does after the first page, checks that dictionary and ids are smaller than the values. */
  private def tryDictionary(): Unit = {
    val bytesWithIds = ids.size.toLong * RunLength.widthOf(dictionary.size - 1) / 8 + dictionary.byteSize
    if (bytesWithIds < plainBytes) use = DictionaryUse.OfPages else endDictionary(dictionary.size)
  }

  private def putIds(body: ByteSink, statistics: PageStatistics): Encoding = {
    val width = RunLength.widthOf(dictionary.size - 1)
    body.put(width)
    RunLength.encode(ids.array, ids.size, width, body)
    // Each entry that the page refers to counts once, in dictionary order.
    scratch.referredTo.set(ids.array, ids.size, dictionary.size)
    scratch.referredTo.foreachRun { (first, end) =>
      statistics.add(dictionary.array, dictionary.start(first), dictionary.start(end))
    }
    Encoding.RLE_DICTIONARY
  }

  private def putPlain(body: ByteSink, statistics: PageStatistics): Encoding = {
    statistics.add(plain.array, 0, plain.length)
    bloom.foreach(_.addPlain(plain.array, plain.length))
    if (shape.isBoolean) putBits(body) else body.putBytes(plain.array, 0, plain.length)
    Encoding.PLAIN
  }

  private def putBits(body: ByteSink): Unit = {
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
}

private object ValueEncoder {

  /** How the pages of a chunk use its dictionary. */
  private sealed trait DictionaryUse

  private object DictionaryUse {

    /** Values are ids, but no page of ids is finished yet. */
    case object Untried extends DictionaryUse

    /** Pages hold ids. */
    case object OfPages extends DictionaryUse

    /** Pages are PLAIN from here on. */
    case object Ended extends DictionaryUse
  }
}
