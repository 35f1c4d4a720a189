package org.apache.spark.sql.delta.upkeep.table

import io.deltaupkeep.UpkeepErrors

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
   * @throws io.deltaupkeep.UpkeepException `ADAPTIVE_METADATA_TABLE`, `UNSUPPORTED_TABLE_FEATURE`,
   *                                        `CATALOG_MANAGED_TABLE`
   */
  def check(statement: String, table: String, snapshot: Snapshot, intent: Intent): Unit = {
    val names = snapshot.protocol.readerAndWriterFeatureNames
    if (names.exists(isAdaptiveMetadata)) throw UpkeepErrors.adaptiveMetadata(statement, table)
    if (intent != Intent.Read) {
      val unknown = names -- known
      if (unknown.nonEmpty) throw UpkeepErrors.unsupportedFeature(statement, table, unknown.toSeq, None)
      DeltaTarget.withKnownFeatures(statement, table)(snapshot.deltaLog.protocolWrite(snapshot.protocol))
    }
    val movesFiles = intent == Intent.Reorganize || intent == Intent.CleanLog
    if (movesFiles && isCatalogManaged(snapshot))
      throw UpkeepErrors.catalogManaged(statement, table, DeltaApi.current.catalogManagedRefusal(statement))
  }
}
