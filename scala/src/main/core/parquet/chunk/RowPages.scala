package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.parquet.page.{PageData, Values}

/** The pages of a column in a row group, one after the other. */
private[parquet] trait RowPages {

  /** Moves to the next page; false if there is none. */
  def next(): Boolean

  /** What the page holds, until the next call of [[next]]. */
  def page: PageData

  /** The row of the first level of this page, counted from 0: that of the page before, if this one goes on with it. */
  def firstRow: Long

  /** Rows that have begun up to the end of this page. */
  def rows: Long

  /** To which pages of ids refer. */
  def dictionary: Option[Values]

  /** Whether no row of the chunk is left out, so that its dictionary can be taken as it is. */
  def isWhole: Boolean
}
