package org.apache.spark.sql.delta.upkeep.table

import scala.util.control.NonFatal

import io.deltaupkeep.{UpkeepErrors, UpkeepException}

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** Decides by the features in the protocol which tables Delta Upkeep may maintain. */
private[upkeep] object TableFeatures {

  /**
   * The features that this version was written for. A feature that Delta adds later is refused until it is
   * known what it requires of a rewrite, a checkpoint and a cleanup.
   */
  val known: Set[String] = Set(
    "allowColumnDefaults",
    "appendOnly",
    "catalogManaged",
    "catalogOwned-preview",
    "changeDataFeed",
    "checkConstraints",
    "checkpointProtection",
    "clustering",
    "columnMapping",
    "coordinatedCommits-preview",
    "deletionVectors",
    "domainMetadata",
    "generatedColumns",
    "geospatial",
    "geospatial-dev",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "identityColumns",
    "inCommitTimestamp",
    "inCommitTimestamp-preview",
    "invariants",
    "materializePartitionColumns",
    "rowTracking",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantShredding",
    "variantShredding-preview",
    "variantType",
    "variantType-preview"
  )

  def isAdaptiveMetadata(feature: String): Boolean = feature.startsWith("adaptiveMetadata")

  /** Delta 4.0 has a preview of it under another name. */
  def isCatalogManaged(snapshot: Snapshot): Boolean =
    snapshot.protocol.readerAndWriterFeatureNames.exists(Set("catalogManaged", "catalogOwned-preview"))

  /** The version before which only a cleanup that goes past it may delete (protocol, 'Checkpoint Protection'). */
  def checkpointProtection(snapshot: Snapshot): Option[Long] =
    if (snapshot.protocol.readerAndWriterFeatureNames("checkpointProtection"))
      snapshot.metadata.configuration.get("delta.requireCheckpointProtectionBeforeVersion")
        .map(_.toLong).filter(_ > 0)
    else None

  /**
   * The error if the features forbid what a statement is going to do, or None: `ADAPTIVE_METADATA_TABLE`,
   * `UNSUPPORTED_TABLE_FEATURE`, `CATALOG_MANAGED_TABLE`.
   */
  def refusal(
      statement: String,
      table: String,
      snapshot: Snapshot,
      intent: Intent
  ): Option[UpkeepException] = {
    val names = snapshot.protocol.readerAndWriterFeatureNames
    def ofReading =
      Option.when(names.exists(isAdaptiveMetadata))(UpkeepErrors.adaptiveMetadata(statement, table))
    def ofWriting = {
      // While a coordinator backfills commits, a look for the newest ones may miss some.
      val unsafe =
        if (intent == Intent.Vacuum) names.filter(_.startsWith("coordinatedCommits")) else Set.empty
      val unknown = (names -- known ++ unsafe).toSeq
      if (intent == Intent.Read) None
      else if (unknown.nonEmpty) Some(UpkeepErrors.unsupportedFeature(statement, table, unknown, None))
      else ofDelta(statement, table, snapshot)
    }
    def ofMoving = {
      val movesFiles = Set[Intent](Intent.Reorganize, Intent.CleanLog, Intent.Vacuum)(intent)
      Option.when(movesFiles && isCatalogManaged(snapshot)) {
        UpkeepErrors.catalogManaged(statement, table, DeltaApi.current.catalogManagedRefusal(statement))
      }
    }
    ofReading.orElse(ofWriting).orElse(ofMoving)
  }

  private def ofDelta(statement: String, table: String, snapshot: Snapshot): Option[UpkeepException] =
    try {
      snapshot.deltaLog.protocolWrite(snapshot.protocol)
      None
    } catch { case NonFatal(e) => Some(DeltaTarget.refusal(statement, table, e).getOrElse(throw e)) }
}
