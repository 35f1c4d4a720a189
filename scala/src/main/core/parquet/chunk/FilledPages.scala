package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.Values
import io.deltaupkeep.parquet.footer.Fill
import io.deltaupkeep.parquet.page.{ColumnBuffer, PageData}

import org.apache.parquet.column.ColumnDescriptor

/**
 * The pages of a column of optional 64-bit numbers, with its nulls filled in. They have no dictionary.
 *
 * @param column   outside structs and lists
 * @param stored   the pages of the file
 * @param startsAt position in the file of the row group's first row
 */
private[parquet] final class FilledPages(
    column: ColumnDescriptor,
    stored: RowPages,
    fill: Fill,
    startsAt: Long
) extends RowPages {

  private val filled = new ColumnBuffer(column)

  override def page: PageData = filled
  override def firstRow: Long = stored.firstRow
  override def rows: Long = stored.rows
  override def dictionary: Option[Values] = None
  override def isWhole: Boolean = stored.isWhole

  override def next(): Boolean = {
    val more = stored.next()
    if (more) take(stored.page)
    more
  }

  private def take(from: PageData): Unit = {
    val values = from.plainValues
    val first = startsAt + firstRow
    var value = 0
    var i = 0
    filled.clear()
    while (i < from.levels) {
      filled.defined(0)
      if (from.definition(i) == from.maxDefinition) {
        val entry = if (from.isDictionaryEncoded) from.ids(value) else value
        filled.plain.putLong(LittleEndian.getLong(values.array, values.start(entry)))
        value += 1
      } else filled.plain.putLong(fill.at(first + i))
      i += 1
    }
    filled.complete()
    ()
  }
}
