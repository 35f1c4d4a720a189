package io.deltaupkeep.parquet.page

import java.util.concurrent.atomic.AtomicLong

import scala.util.control.ControlThrowable

/**
 * Counts the bytes of the finished pages of an output row group until it is written. Shared by the threads
 * that splice its columns.
 *
 * @param limit in bytes
 */
private[parquet] final class HeldPages(limit: Long) {
  private val bytes = new AtomicLong

  /** Adds a page. Throws [[RowGroupTooLarge]] if the row group exceeds the limit. */
  def add(size: Int): Unit = if (bytes.addAndGet(size.toLong) > limit) throw new RowGroupTooLarge
}

/** Abandons a row group because of its size, not its content: smaller ones may succeed. */
private[parquet] final class RowGroupTooLarge extends ControlThrowable
