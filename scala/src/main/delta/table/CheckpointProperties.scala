package org.apache.spark.sql.delta.upkeep.table

import io.deltaupkeep.{CheckpointLimits, UpkeepConf}

import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{DeltaConfigs, Snapshot}

/** When the next checkpoint of a table is due. Its properties take precedence over the session's settings. */
private[upkeep] object CheckpointProperties extends Logging {

  def limits(session: SparkSession, snapshot: Snapshot): CheckpointLimits =
    CheckpointLimits(
      DeltaConfigs.CHECKPOINT_INTERVAL.fromMetaData(snapshot.metadata),
      valueOf(session, snapshot, UpkeepConf.CheckpointCommitBytes),
      valueOf(session, snapshot, UpkeepConf.CheckpointMaxAge)
    )

  private def valueOf(session: SparkSession, snapshot: Snapshot, entry: ConfigEntry[Long]): Long = {
    val name = entry.key.stripPrefix("spark.")
    def ofSession = session.sessionState.conf.getConf(entry)
    snapshot.metadata.configuration.get(name).fold(ofSession) { text =>
      try entry.valueConverter(text)
      catch {
        case e: IllegalArgumentException =>
          logWarning(s"Property $name of ${snapshot.path} cannot be read; the session's setting applies", e)
          ofSession
      }
    }
  }
}
