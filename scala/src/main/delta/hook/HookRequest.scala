package org.apache.spark.sql.delta.upkeep.hook

import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode, TopLevelFormat}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{CheckpointPolicy, DeltaConfigs, Snapshot, V2CheckpointTableFeature}
import org.apache.spark.sql.delta.sources.DeltaSQLConf

/** What the session's settings of Delta ask for in the checkpoints after commits. */
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
   * The protocol has no classic checkpoint in parts for a table with the feature v2Checkpoint, although Delta
   * writes it. A checkpoint that has one part anyway can build on the last one.
   */
  private def splits(partSize: Long, snapshot: Snapshot): Boolean =
    isV2(snapshot) || (!snapshot.protocol.isFeatureSupported(V2CheckpointTableFeature) &&
      snapshot.checksumOpt.forall(_.numFiles > partSize))
}
