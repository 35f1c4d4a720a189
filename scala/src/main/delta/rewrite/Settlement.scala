package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.plan.compact.{DataFile, OddBin}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Decides whether a written bin may be committed.
 *
 * @param actionOf Delta's action for a file
 */
private[rewrite] final class Settlement(handle: DeltaHandle, actionOf: DataFile => AddFile) {

  private val comparison = new RowComparison(handle)
  private val partitions = new PartitionCheck(
    handle.snapshot.metadata.physicalPartitionSchema,
    handle.session.sessionState.conf.sessionLocalTimeZone
  )

  /** For a bin whose numbers agree. */
  def accepted(written: WrittenBin): BinOutcome.Final =
    partitions.difference(written.inputs.map(actionOf)).fold[BinOutcome.Final](BinOutcome.Written(written))(
      isOdd(written, _)
    )

  /** For a bin whose numbers disagree: reads all rows. If the rows are the same, the numbers were wrong. */
  def settled(written: WrittenBin, difference: String): BinOutcome.Final =
    comparison.differences(written.inputs.map(actionOf), written.adds) match {
      case Nil => accepted(written.copy(bin = written.bin.copy(doubt = Some(difference))))
      case columns => isOdd(written, s"$difference ${RowComparison.told(columns)}")
    }

  private def isOdd(written: WrittenBin, difference: String): BinOutcome.Odd = {
    written.remove(handle)
    BinOutcome.Odd(OddBin(written.bin.bin, difference))
  }
}
