package io.deltaupkeep

/** Tables for the planners' tests. */
object Tables {

  def facts(version: Long): TableFacts = TableFacts(
    name = "t",
    path = "file:/t",
    version = version,
    columns = Seq("id", "p"),
    partitionColumns = Seq("p"),
    clusteringColumns = Nil,
    isClustered = false,
    catalogManaged = false,
    supportsV2Checkpoints = false,
    prefersV2Checkpoints = false,
    checkpointLimits = CheckpointLimits(commits = 10, bytes = 0, ageMs = 0),
    logRetentionMs = 30L * 24 * 3600 * 1000,
    deletedFileRetentionMs = 7L * 24 * 3600 * 1000,
    logCleanupEnabled = true,
    inCommitTimestamps = false,
    vacuum = None,
    vacuumFullEvery = None,
    sortOrder = None,
    vacuumKeepFor = None,
    isSwitchedOn = true,
    checkpointProtectionVersion = None
  )
}
