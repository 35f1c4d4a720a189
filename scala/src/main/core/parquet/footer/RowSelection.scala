package io.deltaupkeep.parquet.footer

import java.util.BitSet

/**
 * The rows of a file to keep, by their positions from 0 on. They are read as runs: where the next one begins, and
 * where it ends. Each row up to the last dropped one takes a bit.
 *
 * @param gone positions of the dropped rows; must not change any more
 */
final class RowSelection(gone: BitSet) {

  /** Number of dropped rows. */
  val dropped: Long = gone.cardinality.toLong

  /** One past the position of the last dropped row. */
  def end: Long = gone.length.toLong

  /** The first kept row from `row` on. */
  def nextKept(row: Long): Long = if (row >= end) row else gone.nextClearBit(row.toInt).toLong

  /** The first dropped row from `row` on; `Long.MaxValue` if there is none. */
  def nextDropped(row: Long): Long = if (row >= end) Long.MaxValue else gone.nextSetBit(row.toInt).toLong

  /** Whether this drops every row that `other` drops. */
  def dropsAllOf(other: RowSelection): Boolean = {
    var from = other.nextDropped(0)
    while (from < other.end) {
      val until = other.nextKept(from)
      if (nextKept(from) < until) return false
      from = other.nextDropped(until)
    }
    true
  }

  /** Whether all rows from `from` until `until` are kept. */
  def keepsAll(from: Long, until: Long): Boolean = nextDropped(from) >= until

  /** Number of kept rows from `from` until `until`. */
  def kept(from: Long, until: Long): Long = {
    var rows = 0L
    var at = nextKept(from)
    while (at < until) {
      val next = math.min(until, nextDropped(at))
      rows += next - at
      at = nextKept(next)
    }
    rows
  }
}

object RowSelection {

  /** Keeps all rows. */
  val none: RowSelection = new RowSelection(new BitSet())
}
