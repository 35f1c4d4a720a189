package org.apache.spark.sql.delta.upkeep.hook

import scala.util.Try

import io.deltaupkeep.UpkeepConf

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** Decides which transactions' checkpoints Delta Upkeep writes. */
private[upkeep] object UpkeepTransaction {

  /** The transaction in our form, or unchanged if Delta writes the checkpoint. */
  def of(begun: OptimisticTransaction): OptimisticTransaction =
    if (begun.getClass == classOf[OptimisticTransaction] && isOurs(begun))
      DeltaApi.current.hidingCheckpoints(begun)
    else begun

  /** Runs inside the user's statement, which must not fail because of a setting that cannot be read. */
  private def isOurs(begun: OptimisticTransaction): Boolean = {
    val session = SparkSession.active
    val mode = Try(session.sessionState.conf.getConf(UpkeepConf.CheckpointMode)).getOrElse("delta")
    mode != "delta" && UpkeepCheckpoint.isOurs(session, begun.snapshot, begun.catalogTable)
  }
}
