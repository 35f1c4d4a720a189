package io.deltaupkeep.parquet.cut

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.{ValueShape, Values}
import io.deltaupkeep.parquet.page.PageLayout

import org.apache.parquet.column.ColumnDescriptor

/**
 * Rows of a column in an order of their own: as pages of dictionary ids if many rows share a value, else of values.
 *
 * @param order  numbers of rows, from 0
 * @param from   the first of them that is taken
 * @param until  where they end
 * @param layout of a page
 */
private[parquet] final class GatheredPages(
    held: HeldRows,
    order: Array[Int],
    from: Int,
    until: Int,
    layout: PageLayout
) extends OrderedPages(from) {
  import GatheredPages.MostLevels

  // A value for nearly each row: looking up which ones are alike would take longer than to copy them.
  private val copies = held.entries.size > order.length / 4
  private val shape = ValueShape.of(held.column.getPrimitiveType)
  private val copiedValues = new Values

  override def column: ColumnDescriptor = held.column
  override def nonNull: Int = found.size
  override def isDictionaryEncoded: Boolean = !copies
  override def values: Values = copiedValues
  override val dictionary: Option[Values] = Option.unless(copies)(held.entries)

  override protected def takePage(): Unit = {
    if (held.rowStarts != null) takeLists() else takeValues()
    if (copies) copiedValues.set(shape, copied.array, 0, copied.length, found.size)
    ()
  }

  private def goesOn: Boolean =
    taken < until && (taken == before || taken - before < layout.pageRows &&
      copied.length < layout.pageBytes && definition.size < MostLevels)

  private def takeValues(): Unit = {
    if (held.hasAll && !copies) takeIds()
    else
      while (goesOn) {
        take(held.slots(order(taken)))
        taken += 1
      }
    repetition.add(0, taken - before)
  }

  private def takeIds(): Unit = {
    val count = math.min(until - before, layout.pageRows)
    found.reserve(count)
    definition.add(maxDefinition, count)
    val (slots, ids) = (held.slots, found.array)
    var i = 0
    while (i < count) {
      ids(i) = slots(order(before + i))
      i += 1
    }
    found.advance(count)
    taken += count
  }

  private def takeLists(): Unit = while (goesOn) {
    var level = held.rowStarts(order(taken))
    val end = held.rowStarts(order(taken) + 1)
    while (level < end) {
      repetition.add(held.repetition(level).toInt)
      take(held.slots(level))
      level += 1
    }
    taken += 1
  }

  private def take(slot: Int): Unit =
    if (slot < 0) definition.add(~slot)
    else {
      definition.add(maxDefinition)
      if (copies) copy(slot)
      found.reserve(1)
      found.array(found.size) = slot
      found.advance(1)
    }

  private def copy(slot: Int): Unit = {
    val entries = held.entries
    if (shape.width == 8) copied.putLong(LittleEndian.getLong(entries.array, entries.start(slot)))
    else {
      val start = entries.start(slot)
      copied.putBytes(entries.array, start, entries.start(slot + 1) - start)
    }
  }
}

private object GatheredPages {

  /** Levels after which a page ends with its row: lists may be long. */
  private val MostLevels = 1 << 20
}
