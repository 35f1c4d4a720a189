package io.deltaupkeep.parquet.cut

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.{IdBuffer, Values}
import io.deltaupkeep.parquet.page.PageLayout

import org.apache.parquet.column.ColumnDescriptor

/**
 * Rows of a column outside lists in their new order: as pages of dictionary ids if all refer to the dictionary, else of
 * values.
 *
 * @param from  place of the first row in the order
 * @param until where they end
 */
private[cut] final class ScatteredPages(held: ScatteredColumn, from: Int, until: Int, layout: PageLayout)
    extends OrderedPages(from) {
  import ScatteredColumn.Own
  import ScatteredPages.LengthBytes

  private val keptAt = held.places.keptAt
  private val copies = held.hasOwn
  private val entries = held.dictionary
  private var copiedCount = 0
  private val starts = new IdBuffer

  override def column: ColumnDescriptor = held.column
  override def nonNull: Int = if (copies) copiedCount else found.size
  override def isDictionaryEncoded: Boolean = !copies
  override val values = new Values
  override val dictionary: Option[Values] = Option.unless(copies)(entries)

  override protected def takePage(): Unit = {
    copiedCount = 0
    if (held.slots == null && !held.shape.isVariable) takeFixed()
    else if (copies) takeValues()
    else takeIds()
    repetition.add(0, taken - before)
    if (copies && held.shape.isVariable) {
      starts.array(copiedCount) = copied.length
      values.setAt(copied.array, starts.array, copiedCount)
    } else if (copies) values.set(held.shape, copied.array, 0, copied.length, copiedCount)
    ()
  }

  /** Of rows that all have a value of fixed width. */
  private def takeFixed(): Unit = {
    val width = held.shape.width
    val count = math.min(math.min(until - before, layout.pageRows), math.max(1, layout.pageBytes / width))
    copied.reserve(count * width)
    val (source, target) = (held.fixed, copied.array)
    var i = 0
    if (width == 8)
      while (i < count) {
        LittleEndian.putLong(target, 8 * i, LittleEndian.getLong(source, 8 * keptAt(before + i)))
        i += 1
      }
    else if (width == 4)
      while (i < count) {
        LittleEndian.putInt(target, 4 * i, LittleEndian.getInt(source, 4 * keptAt(before + i)))
        i += 1
      }
    else
      while (i < count) {
        System.arraycopy(source, width * keptAt(before + i), target, width * i, width)
        i += 1
      }
    copied.advance(count * width)
    copiedCount = count
    definition.add(maxDefinition, count)
    taken += count
  }

  private def takeIds(): Unit = {
    val count = math.min(until - before, layout.pageRows)
    found.reserve(count)
    val (slots, ids) = (held.slots, found.array)
    var size = 0
    var present = 0
    var i = 0
    while (i < count) {
      val slot = slots(keptAt(before + i)) ^ Own
      if (slot < 0) {
        addNull(present, ~slot)
        present = 0
      } else {
        present += 1
        ids(size) = slot
        size += 1
      }
      i += 1
    }
    definition.add(maxDefinition, present)
    found.advance(size)
    taken += count
  }

  private def takeValues(): Unit = {
    val slots = held.slots
    starts.reserve(math.min(until - before, layout.pageRows) + 2)
    var present = 0
    while (
      taken < until &&
      (taken == before || taken - before < layout.pageRows && copied.length < layout.pageBytes)
    ) {
      val kept = keptAt(taken)
      val slot = slots(kept) ^ Own
      if (slot < 0) {
        addNull(present, ~slot)
        present = 0
      } else {
        present += 1
        starts.array(copiedCount) = copied.length
        copiedCount += 1
        if (slot < Own)
          copied.putBytes(entries.array, entries.start(slot), entries.encodedLength(slot, slot + 1))
        else if (held.shape.isVariable) {
          val bytes = held.blocks(RowPlaces.blockOf(kept)).array
          val start = slot & ~Own
          copied.putBytes(bytes, start, LengthBytes + LittleEndian.getInt(bytes, start))
        } else copied.putBytes(held.fixed, held.shape.width * kept, held.shape.width)
      }
      taken += 1
    }
    definition.add(maxDefinition, present)
  }

  /** After some rows that have a value. */
  private def addNull(present: Int, level: Int): Unit = {
    definition.add(maxDefinition, present)
    definition.add(level)
  }
}

private object ScatteredPages {
  private val LengthBytes = 4
}
