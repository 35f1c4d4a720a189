package org.apache.spark.sql.delta.upkeep.api

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.stats.StatsCollectionUtils

/** For 3.3 and 4.0. */
private[api] object Delta33 extends DeltaUntil40 with DeltaSince33 {

  override def snapshotOf(commit: Snapshot, version: Long, catalogTable: Option[CatalogTable]): Snapshot =
    commit.deltaLog.getSnapshotAt(
      version,
      lastCheckpointHint = None,
      lastCheckpointProvider = Some(commit.checkpointProvider),
      catalogTableOpt = catalogTable
    )

  override def withStatistics(
      conf: Configuration,
      snapshot: Snapshot,
      files: Dataset[AddFile]
  ): Dataset[AddFile] =
    StatsCollectionUtils.computeStats(
      files.sparkSession,
      conf,
      snapshot.deltaLog,
      snapshot,
      files,
      numFilesOpt = Some(1L),
      ignoreMissingStats = true,
      setBoundsToWide = false
    )
}
