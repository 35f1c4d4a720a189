package org.apache.spark.sql.delta.upkeep.hook

import scala.util.Try

import io.deltaupkeep.UpkeepConf

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{OptimisticTransaction, Snapshot}

/**
 * A transaction whose checkpoint Delta Upkeep writes. It hides from Delta that one is due: Delta would load
 * the whole state of the table for the commit's statistics, before any hook runs.
 */
private[upkeep] final class UpkeepTransaction private (begun: OptimisticTransaction)
    extends OptimisticTransaction(begun.deltaLog, begun.catalogTable, begun.snapshot) {

  override protected def isCheckpointNeeded(version: Long, after: Snapshot): Boolean = false
}

private[upkeep] object UpkeepTransaction {

  /** The transaction in our form, or unchanged if Delta writes the checkpoint. */
  def of(begun: OptimisticTransaction): OptimisticTransaction =
    if (begun.getClass == classOf[OptimisticTransaction] && isOurs(begun)) new UpkeepTransaction(begun)
    else begun

  /** Runs inside the user's statement, which must not fail because of a setting that cannot be read. */
  private def isOurs(begun: OptimisticTransaction): Boolean = {
    val session = SparkSession.active
    val mode = Try(session.sessionState.conf.getConf(UpkeepConf.CheckpointMode)).getOrElse("delta")
    mode != "delta" && UpkeepCheckpoint.isOurs(session, begun.snapshot, begun.catalogTable)
  }
}
