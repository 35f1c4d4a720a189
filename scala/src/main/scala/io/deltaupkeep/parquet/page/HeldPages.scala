package io.deltaupkeep.parquet.page

import java.util.concurrent.atomic.AtomicLong

import scala.util.control.ControlThrowable

/**
 * Counts what the finished pages of a row group of the output take until it is written. Its columns, which threads
 * splice side by side, share it.
 *
 * @param limit in bytes
 */
private[parquet] final class HeldPages(limit: Long) {
  private val bytes = new AtomicLong

  /** Counts a page in; throws [[RowGroupTooLarge]] when the row group takes more than it may. */
  def add(size: Int): Unit = if (bytes.addAndGet(size.toLong) > limit) throw new RowGroupTooLarge
}

/** The end of the work on a row group, by its size and not by what is in it: smaller ones may do. */
private[parquet] final class RowGroupTooLarge extends ControlThrowable
