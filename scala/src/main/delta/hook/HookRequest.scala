package org.apache.spark.sql.delta.upkeep.hook

import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode, TopLevelFormat}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{CheckpointPolicy, DeltaConfigs, Snapshot, V2CheckpointTableFeature}
import org.apache.spark.sql.delta.sources.DeltaSQLConf

/** The request for a checkpoint after a commit, from the session's Delta settings. */
private[upkeep] object HookRequest {

  def of(session: SparkSession, snapshot: Snapshot): CheckpointRequest = {
    val conf = session.sessionState.conf
    CheckpointRequest(
      policy = None,
      format =
        if (isV2(snapshot)) conf.getConf(DeltaSQLConf.CHECKPOINT_V2_TOP_LEVEL_FILE_FORMAT).map(formatOf)
        else None,
      partSize = conf.getConf(DeltaSQLConf.DELTA_CHECKPOINT_PART_SIZE).filter(splits(_, snapshot)),
      Mode.Auto
    )
  }

  def isV2(snapshot: Snapshot): Boolean =
    DeltaConfigs.CHECKPOINT_POLICY.fromMetaData(snapshot.metadata) == CheckpointPolicy.V2

  private def formatOf(name: String): TopLevelFormat =
    if (name == TopLevelFormat.Parquet.name) TopLevelFormat.Parquet else TopLevelFormat.Json

  /**
   * The protocol forbids multi-part checkpoints for tables with the v2Checkpoint feature, although Delta writes
   * them. A checkpoint that would have only one part can build on the last one.
   */
  private def splits(partSize: Long, snapshot: Snapshot): Boolean =
    isV2(snapshot) || (!snapshot.protocol.isFeatureSupported(V2CheckpointTableFeature) &&
      snapshot.checksumOpt.forall(_.numFiles > partSize))
}
