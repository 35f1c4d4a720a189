package org.apache.spark.sql.delta.upkeep.rewrite

import scala.annotation.tailrec
import scala.collection.mutable

import io.deltaupkeep.ClosableIterator
import io.deltaupkeep.plan.compact.{Bin, DataFile, OptimizePlan}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.splice.BinSplicer
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Writes the new files of a plan's bins: those that can be spliced first, then the others row by row.
 *
 * @param layout   of the plan
 * @param actionOf Delta's action for a file
 */
private[upkeep] final class BinWriter(
    handle: DeltaHandle,
    layout: RewriteLayout,
    plan: OptimizePlan,
    actionOf: DataFile => AddFile
) {

  /**
   * The outcomes as they arrive. A failure ends the iteration. Closing it removes the files of those that were
   * not taken.
   */
  def write(): ClosableIterator[BinOutcome.Final] = {
    val splicer = new BinSplicer(handle, plan, actionOf, layout.curve)
    val settlement = new Settlement(handle, actionOf)
    val byRows = new BinsByRows(handle, layout, plan, settlement, splicer.rewriter.statsOf(_), actionOf)
    val spliced = new SplicedBins(handle, layout, plan.targetFileSize, splicer, settlement, actionOf).write()
    val outcomes = new SpliceThenRows(spliced, splicer.needRows, byRows.write)
    ClosableIterator(outcomes) {
      spliced.close()
      byRows.close()
      outcomes.notTaken.foreach(_.remove(handle))
    }
  }
}

/**
 * The final outcomes of the splice job, and once it has ended, those of all bins that need the rows tier.
 *
 * @param needRows bins that the splice job was not given
 */
private[rewrite] final class SpliceThenRows(
    spliced: Iterator[BinOutcome],
    needRows: Seq[Bin],
    byRows: Seq[Bin] => Iterator[BinOutcome.Final]
) extends Iterator[BinOutcome.Final] {
  private val waiting = mutable.ArrayBuffer(needRows: _*)
  private var running = Option.empty[Iterator[BinOutcome.Final]]
  private var found = Option.empty[BinOutcome.Final]

  override def hasNext: Boolean = {
    if (found.isEmpty) found = search()
    found.nonEmpty
  }

  override def next(): BinOutcome.Final = {
    if (!hasNext) throw new NoSuchElementException("all bins were taken")
    val taken = found.get
    found = None
    taken
  }

  /** A written bin that was found, but not taken. */
  def notTaken: Option[WrittenBin] = found.collect { case BinOutcome.Written(bin) => bin }

  @tailrec
  private def search(): Option[BinOutcome.Final] = running match {
    case Some(rows) => rows.nextOption()
    case None if spliced.hasNext =>
      spliced.next() match {
        case BinOutcome.NeedsRows(bin) =>
          waiting += bin
          search()
        case done: BinOutcome.Final => Some(done)
      }
    case None =>
      running = Some(byRows(waiting.toVector))
      search()
  }
}
