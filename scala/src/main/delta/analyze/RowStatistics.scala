package org.apache.spark.sql.delta.upkeep.analyze

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.{Metadata, Protocol}
import org.apache.spark.sql.delta.upkeep.table.{PhysicalSchema, SnapshotCopy}
import org.apache.spark.sql.types.StructType

/**
 * Delta's statistics of rows whose columns have their physical names. The collectors of Delta's snapshot and of its writer
 * compare logical names with physical ones, so after ALTER TABLE they may take a column for another, or for null. It is
 * a snapshot, because versions of Delta differ in what their trait of collectors needs.
 *
 * @param rows the schema of the rows; it may lack columns of the table, which are null then
 */
private[analyze] final class RowStatistics(original: Snapshot, rows: StructType)
    extends SnapshotCopy(original) {

  override def protocol: Protocol = original.protocol
  override def metadata: Metadata = original.metadata
  override def outputAttributeSchema: StructType = rows
  override def outputTableStatsSchema: StructType = RowStatistics.physical(original)

  /** By the table's own mapping. Where no columns are named, the schema is the physical one already. */
  override lazy val statCollectionPhysicalSchema: StructType =
    if (statsColumnSpec.deltaStatsColumnNamesOpt.isEmpty) statCollectionLogicalSchema
    else PhysicalSchema.of(statCollectionLogicalSchema, metadata)
}

private[analyze] object RowStatistics {

  /** Of rows that have all columns of a table. */
  def ofTable(snapshot: Snapshot): RowStatistics = new RowStatistics(snapshot, physical(snapshot))

  private def physical(snapshot: Snapshot): StructType =
    PhysicalSchema.of(snapshot.metadata.dataSchema, snapshot.metadata)
}
