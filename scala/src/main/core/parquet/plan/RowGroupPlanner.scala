package io.deltaupkeep.parquet.plan

import scala.collection.mutable.ArrayBuffer

import io.deltaupkeep.parquet.footer.{OpenFile, RowGroup}

/** A row group of the output: one row group of an input, copied, or several merged. */
private[parquet] final case class PlannedRowGroup(parts: IndexedSeq[RowGroup]) {
  def rows: Long = parts.iterator.map(_.rows).sum
  def isAlone: Boolean = parts.size == 1

  /** The same rows in two row groups. Requires at least two parts. */
  def halves: (PlannedRowGroup, PlannedRowGroup) = {
    val (first, second) = parts.splitAt(parts.size / 2)
    (PlannedRowGroup(first), PlannedRowGroup(second))
  }
}

/**
 * Decides which row groups of the inputs are merged into one of the output, as the inputs arrive. Pure.
 *
 * Large row groups stay alone. Small ones are collected, even across large ones, until they fill a row group.
 * So rows keep their order among the small row groups, and among the large ones.
 */
private[parquet] final class RowGroupPlanner(settings: SpliceSettings) {

  private val waiting = ArrayBuffer.empty[RowGroup]
  private var waitingBytes = 0L
  private var waitingHeld = 0L

  def add(file: OpenFile): Seq[PlannedRowGroup] = file.rowGroups.flatMap { group =>
    if (group.uncompressedBytes >= settings.copyFromBytes) Seq(PlannedRowGroup(Vector(group)))
    else {
      val done = if (fits(group)) None else finish()
      waiting += group
      waitingBytes += group.uncompressedBytes
      waitingHeld += group.compressedBytes
      done.toSeq
    }
  }

  def finish(): Option[PlannedRowGroup] = {
    val planned = Option.when(waiting.nonEmpty)(PlannedRowGroup(waiting.toVector))
    waiting.clear()
    waitingBytes = 0
    waitingHeld = 0
    planned
  }

  private def fits(group: RowGroup): Boolean =
    waitingBytes + group.uncompressedBytes <= settings.rowGroupBytes &&
      waitingHeld + group.compressedBytes <= settings.bytesInFlight / 2
}
