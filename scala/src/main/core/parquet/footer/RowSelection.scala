package io.deltaupkeep.parquet.footer

import java.util.BitSet

/**
 * The rows of a file that stay, by their positions from 0 on. They are told as runs: where the next one begins, and
 * where it ends. A row takes a bit, up to the last one that goes.
 *
 * @param gone positions of the rows that go; must not change any more
 */
final class RowSelection(gone: BitSet) {

  /** How many rows go. */
  val dropped: Long = gone.cardinality.toLong

  /** One more than the position of the last row that goes. */
  def end: Long = gone.length.toLong

  /** The first row from `row` on that stays. */
  def nextKept(row: Long): Long = if (row >= end) row else gone.nextClearBit(row.toInt).toLong

  /** The first row from `row` on that goes; `Long.MaxValue` if there is none. */
  def nextDropped(row: Long): Long = if (row >= end) Long.MaxValue else gone.nextSetBit(row.toInt).toLong

  /** Whether every row that goes by `other` goes by this too. */
  def dropsAllOf(other: RowSelection): Boolean = {
    var from = other.nextDropped(0)
    while (from < other.end) {
      val until = other.nextKept(from)
      if (nextKept(from) < until) return false
      from = other.nextDropped(until)
    }
    true
  }

  /** Whether all rows from `from` until `until` stay. */
  def keepsAll(from: Long, until: Long): Boolean = nextDropped(from) >= until

  /** How many rows from `from` until `until` stay. */
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

  /** All rows stay. */
  val none: RowSelection = new RowSelection(new BitSet())
}
