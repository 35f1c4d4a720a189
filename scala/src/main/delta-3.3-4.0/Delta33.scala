package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.Snapshot

/** For 3.3 and 4.0. */
private[upkeep] object Delta33 extends DeltaUntil40 with DeltaSince33 {

  override def snapshotOf(commit: Snapshot, version: Long, catalogTable: Option[CatalogTable]): Snapshot =
    commit.deltaLog.getSnapshotAt(
      version,
      lastCheckpointHint = None,
      lastCheckpointProvider = Some(commit.checkpointProvider),
      catalogTableOpt = catalogTable
    )
}
