package io.deltaupkeep

/**
 * What the planners need to know about a table at one version.
 *
 * @param name              the name that a statement can use: `catalog.schema.table` or delta.`/path`
 * @param path              the table's root
 * @param version           the version that was read
 * @param columns           names of the top-level columns
 * @param partitionColumns  names of the partition columns, in the table's order
 * @param clusteringColumns names of the columns of CLUSTER BY; empty if there are none
 * @param isClustered       whether the table has the clustering feature, with or without columns
 * @param catalogManaged    whether a catalog owns the commits (protocol, 'Catalog-managed tables')
 * @param supportsV2Checkpoints whether the protocol has the v2Checkpoint feature
 * @param prefersV2Checkpoints  whether `delta.checkpointPolicy` is v2
 * @param checkpointLimits      when the next checkpoint is due
 * @param logRetentionMs        `delta.logRetentionDuration` in milliseconds
 * @param deletedFileRetentionMs `delta.deletedFileRetentionDuration` in milliseconds
 * @param logCleanupEnabled     `delta.enableExpiredLogCleanup`
 * @param inCommitTimestamps    whether commits carry their own time (protocol, 'In-Commit Timestamps')
 * @param vacuum             `deltaUpkeep.vacuum`, as it was written
 * @param vacuumFullEvery    `deltaUpkeep.vacuum.fullEvery`, as it was written
 * @param vacuumKeepFor      `deltaUpkeep.vacuum.keepFor`, as it was written
 * @param sortOrder          `deltaUpkeep.sortOrder`, as it was written
 * @param isSwitchedOn          whether `deltaUpkeep.enabled` lets Delta Upkeep change the table
 * @param checkpointProtectionVersion `delta.requireCheckpointProtectionBeforeVersion`, if the feature
 *                                    checkpointProtection is on
 */
final case class TableFacts(
    name: String,
    path: String,
    version: Long,
    columns: Seq[String],
    partitionColumns: Seq[String],
    clusteringColumns: Seq[String],
    isClustered: Boolean,
    catalogManaged: Boolean,
    supportsV2Checkpoints: Boolean,
    prefersV2Checkpoints: Boolean,
    checkpointLimits: CheckpointLimits,
    logRetentionMs: Long,
    deletedFileRetentionMs: Long,
    logCleanupEnabled: Boolean,
    inCommitTimestamps: Boolean,
    vacuum: Option[String],
    vacuumFullEvery: Option[String],
    vacuumKeepFor: Option[String],
    sortOrder: Option[String],
    isSwitchedOn: Boolean,
    checkpointProtectionVersion: Option[Long]
)
