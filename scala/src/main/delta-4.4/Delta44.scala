package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.{
  CheckpointProvider,
  DeltaConfigs,
  DeltaErrors,
  LazyCompleteCheckpointProvider,
  Snapshot
}
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.delta.stats.StatsCollector

/** Since 4.4 a checkpoint need not be a set of files. */
private[upkeep] object Delta44 extends DeltaSince41 {

  override def complete(checkpoint: CheckpointProvider): CheckpointProvider = checkpoint match {
    case unread: LazyCompleteCheckpointProvider => complete(unread.underlyingCheckpointProvider)
    case complete => complete
  }

  override def checkpointActions(session: SparkSession, snapshot: Snapshot): Option[DataFrame] =
    snapshot.checkpointProvider.loadActionsForStateReconstruction(session, snapshot.deltaLog)

  override def catalogManagedRefusal(statement: String): Option[Throwable] =
    Option.when(Set("OPTIMIZE", "REORG")(statement)) {
      DeltaErrors.operationBlockedOnCatalogManagedTable(statement)
    }

  override def storesPartitions(metadata: Metadata): Boolean =
    DeltaConfigs.WRITE_PARTITION_COLUMNS_TO_PARQUET.fromMetaData(metadata).getOrElse(true)

  override def statsCollector(snapshot: Snapshot, rebaseMode: String, longest: Int): StatsCollector =
    StatsCollector(
      snapshot.columnMappingMode,
      snapshot.dataSchema,
      snapshot.statsSchema,
      rebaseMode,
      stringTruncateLength = Some(longest)
    )
}
