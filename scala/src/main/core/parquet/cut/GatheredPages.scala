package io.deltaupkeep.parquet.cut

import io.deltaupkeep.parquet.chunk.RowPages
import io.deltaupkeep.parquet.encoding.{IdBuffer, LevelBuffer, Values}
import io.deltaupkeep.parquet.page.PageData

import org.apache.parquet.column.ColumnDescriptor

/**
 * Rows of a column in an order of their own, as pages of dictionary ids.
 *
 * @param order    numbers of rows, from 0
 * @param from     the first of them that is taken
 * @param until    where they end
 * @param pageRows rows of a page
 */
private[parquet] final class GatheredPages(
    held: HeldRows,
    order: Array[Int],
    from: Int,
    until: Int,
    pageRows: Int
) extends RowPages
    with PageData {
  private val found = new IdBuffer
  private var taken = from
  private var before = from

  override def column: ColumnDescriptor = held.column
  override val repetition = new LevelBuffer
  override val definition = new LevelBuffer
  override def levels: Int = definition.size
  override def nonNull: Int = found.size
  override def isDictionaryEncoded: Boolean = true
  override def values: Values = held.entries
  override def ids: Array[Int] = found.array
  override val dictionary: Option[Values] = Some(held.entries)

  override def page: PageData = this
  override def firstRow: Long = (before - from).toLong
  override def rows: Long = (taken - from).toLong

  // The output needs the entries of these rows alone.
  override def isWhole: Boolean = false

  override def next(): Boolean = {
    before = taken
    taken = math.min(until, before + pageRows)
    repetition.clear()
    definition.clear()
    found.clear()
    if (held.rowStarts != null) takeLists() else takeValues()
    taken > before
  }

  private def takeValues(): Unit = {
    found.reserve(taken - before)
    repetition.add(0, taken - before)
    if (held.hasAll) {
      definition.add(maxDefinition, taken - before)
      val (slots, ids) = (held.slots, found.array)
      var i = before
      while (i < taken) {
        ids(i - before) = slots(order(i))
        i += 1
      }
      found.advance(taken - before)
    } else {
      var i = before
      while (i < taken) {
        take(held.slots(order(i)))
        i += 1
      }
    }
  }

  private def takeLists(): Unit = {
    var i = before
    while (i < taken) {
      var level = held.rowStarts(order(i))
      val end = held.rowStarts(order(i) + 1)
      found.reserve(end - level)
      while (level < end) {
        repetition.add(held.repetition(level).toInt)
        take(held.slots(level))
        level += 1
      }
      i += 1
    }
  }

  /** There must be room for one more id. */
  private def take(slot: Int): Unit =
    if (slot < 0) definition.add(~slot)
    else {
      definition.add(maxDefinition)
      found.array(found.size) = slot
      found.advance(1)
    }
}
