package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.encoding.Values
import io.deltaupkeep.parquet.page.PageData

/** The pages of a column in a row group, one after the other. */
private[parquet] trait RowPages {

  /** Moves to the next page; false if there is none. */
  def next(): Boolean

  /** The current page, valid until the next call of [[next]]. */
  def page: PageData

  /** The row of this page's first level, counted from 0. It may continue from the previous page. */
  def firstRow: Long

  /** Number of rows begun by the end of this page. */
  def rows: Long

  /** The dictionary that pages of ids refer to. */
  def dictionary: Option[Values]

  /** Whether all rows of the chunk are kept, so that its dictionary can be taken as it is. */
  def isWhole: Boolean
}
