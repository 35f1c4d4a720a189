package io.deltaupkeep.parquet.cut

import io.deltaupkeep.ByteText
import io.deltaupkeep.parquet.bytes.{ByteSink, LittleEndian, MalformedPage, TooLarge}
import io.deltaupkeep.parquet.chunk.{ColumnSink, RowPages}
import io.deltaupkeep.parquet.encoding.{ValueDictionary, ValueShape, Values}
import io.deltaupkeep.parquet.page.{LevelMap, PageData}

import org.apache.parquet.column.ColumnDescriptor

/**
 * A column outside lists in memory, its rows kept where [[RowPlaces]] says, so that they can be taken in the new order:
 * see [[ScatteredPages]]. A chunk's dictionary is kept once if many rows share its entries; other values are copied.
 *
 * @param column      of the output
 * @param mostEntries of a dictionary that is kept
 * @param mostBytes   that the column may take
 * @param expected    what it will probably hold
 * @param room        grows with it
 */
private[cut] final class ScatteredColumn(
    override val column: ColumnDescriptor,
    val places: RowPlaces,
    mostEntries: Int,
    mostBytes: Long,
    expected: HeldSize = HeldSize(0, 0),
    room: ColumnRoom = ColumnRoom.unlimited
) extends ColumnSink {
  import HeldColumn.MostEntryBytes
  import ScatteredColumn._

  private val rowCount = places.kept.length
  private val maxDefinition = column.getMaxDefinitionLevel
  private val distinct = new ValueDictionary
  private var row = 0

  val shape: ValueShape = ValueShape.of(column.getPrimitiveType)

  /** Rows so far. */
  def rows: Int = row

  /** Whether some rows do not refer to the dictionary. */
  var hasOwn: Boolean = false

  /**
   * By where a row is kept: an entry of the dictionary, [[Own]] with the start of a value of variable width in its block, or
   * the complement of the definition level of a null. None if all values are of fixed width, and not in the dictionary.
   * Each is stored with [[Own]] flipped, which is then what a new array says.
   */
  var slots: Array[Int] = _

  /** Values of fixed width, by where their rows are kept. */
  var fixed: Array[Byte] = Array.emptyByteArray

  /** By block, values of variable width with their lengths. */
  val blocks: Array[ByteSink] =
    if (shape.isVariable) Array.fill(places.blocks)(new ByteSink(bytesOfBlock))
    else Array.empty

  /** With some room: half of the blocks have more than the average. */
  private def bytesOfBlock: Int = (expected.entryCapacity.toLong / places.blocks * 9 / 8).toInt

  private var variableBytes = 0L

  /** The entries that slots refer to, once all chunks were appended. */
  lazy val dictionary: Values =
    new Values().set(shape, distinct.array, 0, distinct.byteSize, distinct.size)

  distinct.reset(shape, MostEntryBytes.toInt)

  override def append(input: RowPages, levels: LevelMap): Unit = {
    val shared = input.dictionary.filter(_.size <= mostEntries)
    // The ids of its entries here, once a page refers to them.
    var ids = Option.empty[Array[Int]]
    while (input.next()) {
      val page = input.page
      requireRows(page.levels)
      val isShared = page.isDictionaryEncoded && shared.nonEmpty
      if (!isShared) requireRoom(page)
      else if (ids.isEmpty) ids = shared.map(idsOf)
      val isWhole = page.nonNull == page.levels && levels.of(page.maxDefinition) == maxDefinition
      if (!isWhole) appendLevels(page, levels, ids.filter(_ => isShared))
      else if (isShared) ids.foreach(appendIds(page, _))
      else if (shape.width == 8) appendLongs(page)
      else appendValues(page)
    }
  }

  override def appendShape(input: RowPages, levels: LevelMap): Unit = while (input.next()) {
    val page = input.page
    requireRows(page.repetition.occurrences(0, 0, page.levels))
    var i = 0
    while (i < page.levels) {
      if (page.repetition(i) == 0) putNull(levels.of(page.definition(i)))
      i += 1
    }
  }

  override def appendNulls(rows: Long): Unit = {
    requireRows(rows)
    var left = rows
    while (left > 0) {
      putNull(0)
      left -= 1
    }
  }

  private def idsOf(values: Values): Array[Int] = {
    val size = values.encodedLength(0, values.size)
    requireRoom(size.toLong)
    if (distinct.byteSize.toLong + size > MostEntryBytes) throw tooLarge(distinct.byteSize.toLong + size)
    val ids = new Array[Int](values.size)
    var i = 0
    while (i < ids.length) {
      ids(i) = distinct.idOf(values.array, values.start(i), values.start(i + 1))
      i += 1
    }
    ids
  }

  private def appendIds(page: PageData, mapping: Array[Int]): Unit = {
    needSlots()
    val (ids, kept, to) = (page.ids, places.kept, slots)
    val from = row
    var i = 0
    while (i < page.levels) {
      to(kept(from + i)) = mapping(ids(i)) ^ Own
      i += 1
    }
    row += page.levels
  }

  private def appendLongs(page: PageData): Unit = {
    needFixed()
    val (values, kept, to) = (page.plainValues, places.kept, fixed)
    val (source, start) = (values.array, values.start(0))
    val ids = if (page.isDictionaryEncoded) page.ids else null
    val from = row
    var i = 0
    while (i < page.levels) {
      val value = if (ids == null) i else ids(i)
      LittleEndian.putLong(to, 8 * kept(from + i), LittleEndian.getLong(source, start + 8 * value))
      i += 1
    }
    markOwn(page.levels)
  }

  private def appendValues(page: PageData): Unit = {
    val values = page.plainValues
    val ids = if (page.isDictionaryEncoded) page.ids else null
    val count = page.levels
    var i = 0
    while (i < count) {
      putOwn(values, if (ids == null) i else ids(i))
      i += 1
    }
  }

  /** @param mapping to the dictionary, if the page's is kept */
  private def appendLevels(page: PageData, levels: LevelMap, mapping: Option[Array[Int]]): Unit = {
    val ofValue = page.maxDefinition
    val values = page.plainValues
    var value = 0
    var i = 0
    while (i < page.levels) {
      val level = page.definition(i)
      val mapped = levels.of(level)
      if (mapped < maxDefinition) putNull(mapped)
      else {
        val entry = if (page.isDictionaryEncoded) page.ids(value) else value
        if (mapping.isEmpty) putOwn(values, entry) else putSlot(mapping.get(entry))
      }
      if (level == ofValue) value += 1
      i += 1
    }
  }

  private def putNull(level: Int): Unit = putSlot(~level)

  private def putSlot(slot: Int): Unit = {
    needSlots()
    slots(places.kept(row)) = slot ^ Own
    row += 1
  }

  private def putOwn(values: Values, entry: Int): Unit =
    if (shape.isVariable) putVariable(values, entry) else putFixed(values, entry)

  private def putFixed(values: Values, entry: Int): Unit = {
    needFixed()
    val at = shape.width * places.kept(row)
    if (shape.width == 4)
      LittleEndian.putInt(fixed, at, LittleEndian.getInt(values.array, values.start(entry)))
    else System.arraycopy(values.array, values.start(entry), fixed, at, shape.width)
    markOwn(1)
  }

  private def putVariable(values: Values, entry: Int): Unit = {
    hasOwn = true
    val block = blocks(RowPlaces.blockOf(places.kept(row)))
    putSlot(Own | block.length)
    block.putBytes(values.array, values.start(entry), values.encodedLength(entry, entry + 1))
    if (block.length >= Own) throw tooLarge(block.length.toLong)
  }

  /** For values of fixed width that were put: slots say so from the beginning. */
  private def markOwn(count: Int): Unit = {
    hasOwn = true
    row += count
  }

  private def needSlots(): Unit = if (slots == null) slots = new Array[Int](rowCount)

  private def needFixed(): Unit = if (fixed.length == 0 && rowCount > 0) {
    requireRoom(rowCount.toLong * shape.width)
    fixed = new Array[Byte](rowCount * shape.width)
  }

  private def requireRows(more: Long): Unit = if (row + more > rowCount)
    throw new MalformedPage(s"${row + more} rows or more of a column where there are $rowCount")

  private def requireRoom(page: PageData): Unit =
    if (shape.isVariable && page.nonNull > 0) {
      val bytes = page.plainBytes(0, page.nonNull, Long.MaxValue)
      requireRoom(bytes)
      variableBytes += bytes
    }

  private def requireRoom(more: Long): Unit = {
    val taken = 4L * rowCount + distinct.byteSize + fixed.length + variableBytes + more
    if (taken > mostBytes || more > MostEntryBytes) throw tooLarge(taken)
    room.growTo(taken)
  }

  private def tooLarge(taken: Long): TooLarge =
    new TooLarge(s"column ${column.getPath.mkString(".")} takes ${ByteText.of(taken)} of memory", mostBytes)
}

private[cut] object ScatteredColumn {

  /** A slot with this bit has a value that is not in the dictionary. */
  val Own: Int = 1 << 30
}
