package io.deltaupkeep.parquet.cut

import io.deltaupkeep.parquet.bytes.ByteSink
import io.deltaupkeep.parquet.chunk.RowPages
import io.deltaupkeep.parquet.encoding.{IdBuffer, LevelBuffer}
import io.deltaupkeep.parquet.page.PageData

/**
 * Rows of a column in an order of their own: as pages of dictionary ids, or of copied values.
 *
 * @param from the place of the first row in the order
 */
private[cut] abstract class OrderedPages(from: Int) extends RowPages with PageData {

  /** The dictionary ids of the page. */
  protected val found = new IdBuffer

  /** The values of the page in PLAIN encoding, if it has no ids. */
  protected val copied = new ByteSink()

  /** Where the page begins in the order, and where it ends. */
  protected var before: Int = from
  protected var taken: Int = from

  /** Takes the rows of the next page, at least one if there is any. */
  protected def takePage(): Unit

  override val repetition = new LevelBuffer
  override val definition = new LevelBuffer
  override def levels: Int = definition.size
  override def ids: Array[Int] = found.array

  override def page: PageData = this
  override def firstRow: Long = (before - from).toLong
  override def rows: Long = (taken - from).toLong

  // The output needs the entries of these rows alone.
  override def isWhole: Boolean = false

  override def next(): Boolean = {
    before = taken
    repetition.clear()
    definition.clear()
    found.clear()
    copied.clear()
    takePage()
    taken > before
  }
}
