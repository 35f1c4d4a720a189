package io.deltaupkeep.parquet.cut

import io.deltaupkeep.ByteText
import io.deltaupkeep.parquet.bytes.{ByteSink, TooLarge}
import io.deltaupkeep.parquet.chunk.{ColumnSink, RowPages}
import io.deltaupkeep.parquet.encoding.{IdBuffer, ValueShape, Values}
import io.deltaupkeep.parquet.page.{LevelMap, PageData}

import org.apache.parquet.column.ColumnDescriptor

/**
 * A column of many row groups in memory, so that its rows can be taken in any order: see [[GatheredPages]]. Chunks are
 * appended as to a new chunk. Values stay in PLAIN encoding, those of a dictionary once for each chunk. Besides their bytes
 * they take four bytes each, eight if their width varies; in a list, one more.
 *
 * @param column    of the output
 * @param mostBytes that it may take
 * @param expected  what it will probably hold
 * @param room      grows with it
 */
private[parquet] final class HeldColumn(
    override val column: ColumnDescriptor,
    mostBytes: Long,
    expected: HeldSize = HeldSize(0, 0),
    room: ColumnRoom = ColumnRoom.unlimited
) extends ColumnSink {
  private val shape = ValueShape.of(column.getPrimitiveType)
  private val maxDefinition = column.getMaxDefinitionLevel
  private val isList = column.getMaxRepetitionLevel > 0
  private val entries = new ByteSink(expected.entryCapacity)
  private var entryCount = 0
  // For each level: where its value is among the entries, or the complement of the definition level of a null.
  private val slots = new IdBuffer
  private val repetition = new ByteSink(if (isList) 1 << 12 else 0)
  private val rowStarts = new IdBuffer
  private var nulls = 0L

  slots.reserve(expected.levelCapacity)

  def rows: Int = if (isList) rowStarts.size else slots.size

  /** Memory, before the buffers grow. */
  def bytes: Long =
    entries.length + 4L * slots.size + repetition.length + 4L * rowStarts.size +
      (if (shape.isVariable) 4L * entryCount else 0L)

  override def append(input: RowPages, levels: LevelMap): Unit = {
    // Ids of a chunk refer to one dictionary.
    var ofDictionary = -1
    while (input.next()) {
      val page = input.page
      requireRoom(page.levels)
      val base = if (page.nonNull > 0 && page.isDictionaryEncoded) {
        if (ofDictionary < 0)
          ofDictionary = appendEntries(page.plainValues, page.plainValues.size, page.levels)
        ofDictionary
      } else appendEntries(page.values, page.nonNull, page.levels)
      appendLevels(page, levels, base)
    }
  }

  override def appendShape(input: RowPages, levels: LevelMap): Unit = while (input.next()) {
    requireRoom(input.page.levels)
    appendLevels(input.page, levels, base = 0)
  }

  override def appendNulls(rows: Long): Unit = {
    requireRoom(rows)
    var left = rows
    while (left > 0) {
      appendLevel(repetitionLevel = 0, ~0)
      left -= 1
    }
    nulls += rows
  }

  /** @param levels that come with them */
  private def appendEntries(values: Values, count: Int, levels: Int): Int = {
    val base = entryCount
    if (count > 0) {
      val size = values.encodedLength(0, count)
      requireRoom(levels, size, count)
      entries.putBytes(values.array, values.start(0), size)
      entryCount += count
    }
    base
  }

  private def requireRoom(levels: Long, entryBytes: Int = 0, count: Int = 0): Unit = {
    val taken =
      bytes + entryBytes + levels * (if (isList) 9L else 4L) + (if (shape.isVariable) 4L * count else 0L)
    if (taken > mostBytes || entries.length.toLong + entryBytes > HeldColumn.MostEntryBytes)
      throw new TooLarge(s"a column takes ${ByteText.of(taken)} of memory", mostBytes)
    room.growTo(taken)
  }

  /** @param base where the page's values, or its dictionary, begin among the entries */
  private def appendLevels(page: PageData, levels: LevelMap, base: Int): Unit = {
    val ofValue = page.maxDefinition
    if (
      !isList && page.maxRepetition == 0 && page.definition.isAll(ofValue) && levels.of(
        ofValue
      ) == maxDefinition
    )
      appendValues(page, base)
    else eachLevel(page, levels, base)
  }

  /** A page in which each row has a value. */
  private def appendValues(page: PageData, base: Int): Unit = {
    val count = page.levels
    slots.reserve(count)
    val (target, from) = (slots.array, slots.size)
    var i = 0
    if (page.isDictionaryEncoded) {
      val ids = page.ids
      while (i < count) {
        target(from + i) = base + ids(i)
        i += 1
      }
    } else
      while (i < count) {
        target(from + i) = base + i
        i += 1
      }
    slots.advance(count)
  }

  private def eachLevel(page: PageData, levels: LevelMap, base: Int): Unit = {
    val ofValue = page.maxDefinition
    var value = 0
    var i = 0
    while (i < page.levels) {
      val level = page.definition(i)
      val isDefined = level == ofValue
      val mapped = levels.of(level)
      if (page.repetition(i) <= levels.maxRepetition) {
        if (mapped == maxDefinition)
          appendLevel(page.repetition(i), base + (if (page.isDictionaryEncoded) page.ids(value) else value))
        else {
          appendLevel(page.repetition(i), ~mapped)
          nulls += 1
        }
      }
      if (isDefined) value += 1
      i += 1
    }
  }

  private def appendLevel(repetitionLevel: Int, slot: Int): Unit = {
    if (isList) {
      if (repetitionLevel == 0) put(rowStarts, slots.size)
      repetition.put(repetitionLevel)
    }
    put(slots, slot)
  }

  private def put(to: IdBuffer, value: Int): Unit = {
    to.reserve(1)
    to.array(to.size) = value
    to.advance(1)
  }

  /** Ends it, so that rows can be taken. */
  def finish(): HeldRows = {
    val values = new Values().set(shape, entries.array, 0, entries.length, entryCount)
    if (isList) put(rowStarts, slots.size)
    new HeldRows(
      column,
      values,
      slots.array,
      if (isList) rowStarts.array else null,
      repetition.array,
      nulls == 0
    )
  }
}

/**
 * About how much a column holds.
 *
 * @param entryBytes of its values, those of a dictionary once
 */
private[cut] final case class HeldSize(levels: Long, entryBytes: Long) {
  private[cut] def levelCapacity: Int = math.min(levels, HeldColumn.MostEntryBytes).toInt
  private[cut] def entryCapacity: Int = math.min(entryBytes, HeldColumn.MostEntryBytes).toInt
}

private object HeldColumn {

  /** The limit of an array. */
  val MostEntryBytes: Long = Int.MaxValue - 16L
}

/**
 * The rows of a column.
 *
 * @param entries    the values that slots refer to
 * @param slots      by level: a value's position among the entries, or the complement of the definition level of a null
 * @param rowStarts  by row: its first level, and at the end their number; null if each row has one
 * @param repetition by level; unused if each row has one
 * @param hasAll     whether each level has a value
 */
private[parquet] final class HeldRows(
    val column: ColumnDescriptor,
    val entries: Values,
    val slots: Array[Int],
    val rowStarts: Array[Int],
    val repetition: Array[Byte],
    val hasAll: Boolean
)
