package org.apache.spark.sql.delta.upkeep.hook

import scala.util.control.NonFatal

import io.deltaupkeep.UpkeepConf

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** Decides which transactions' checkpoints Delta Upkeep writes. */
private[upkeep] object UpkeepTransaction extends Logging {

  /** The transaction in our form, or unchanged if Delta writes the checkpoint. */
  def of(begun: OptimisticTransaction): OptimisticTransaction =
    if (begun.getClass == classOf[OptimisticTransaction] && isOurs(begun))
      DeltaApi.current.hidingCheckpoints(begun)
    else begun

  /** Runs inside the user's statement, which must not fail because of a setting that cannot be read. */
  private def isOurs(begun: OptimisticTransaction): Boolean = {
    val session = SparkSession.active
    modeOf(session).exists(_ != "delta") &&
    UpkeepCheckpoint.isOurs(session, begun.snapshot, begun.catalogTable)
  }

  private def modeOf(session: SparkSession): Option[String] =
    try Some(session.sessionState.conf.getConf(UpkeepConf.CheckpointMode))
    catch {
      case NonFatal(e) =>
        logWarning("Checkpoints are left to Delta", e)
        None
    }
}
