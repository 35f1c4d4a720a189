package io.deltaupkeep.parquet.chunk

import scala.annotation.tailrec

import io.deltaupkeep.parquet.encoding.Values
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.parquet.page.PageData

import org.apache.parquet.column.ColumnDescriptor

/**
 * The pages of a row group without its dropped rows. Pages that lose no rows stay as they are.
 *
 * @param selection of the rows of the file
 * @param startsAt  position in the file of the row group's first row
 */
private[parquet] final class CutPages(
    column: ColumnDescriptor,
    stored: RowPages,
    selection: RowSelection,
    startsAt: Long,
    scratch: CutScratch
) extends RowPages {

  private val cut = new CutPage(column, scratch)
  private var current: PageData = cut

  override def page: PageData = current
  override def firstRow: Long = stored.firstRow
  override def rows: Long = stored.rows
  override def dictionary: Option[Values] = stored.dictionary
  override def isWhole: Boolean = false

  @tailrec
  override def next(): Boolean = stored.next() && {
    val first = startsAt + firstRow
    val isWhole = selection.keepsAll(first, startsAt + rows)
    current = if (isWhole) stored.page else cut.take(stored.page, first, selection)
    current.levels > 0 || next()
  }
}
