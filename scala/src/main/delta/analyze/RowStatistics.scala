package org.apache.spark.sql.delta.upkeep.analyze

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{DeltaColumnMappingMode, Snapshot}
import org.apache.spark.sql.delta.actions.Protocol
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.{DeltaStatsColumnSpec, StatisticsCollection}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema}
import org.apache.spark.sql.types.StructType

/**
 * Delta's statistics of rows whose columns have their physical names. The collectors of Delta's snapshot and of its writer
 * compare logical names with physical ones, so after ALTER TABLE they may take a column for another, or for null.
 *
 * @param rows the schema of the rows; it may lack columns of the table, which are null then
 */
private[analyze] final class RowStatistics(snapshot: Snapshot, session: SparkSession, rows: StructType)
    extends StatisticsCollection {

  private val metadata = snapshot.metadata

  override protected val spark: SparkSession = session
  override def tableSchema: StructType = metadata.schema
  override def outputAttributeSchema: StructType = rows
  override val outputTableStatsSchema: StructType = PhysicalSchema.of(metadata.dataSchema, metadata)
  override val statsColumnSpec: DeltaStatsColumnSpec =
    StatisticsCollection.configuredDeltaStatsColumnSpec(metadata)
  override val columnMappingMode: DeltaColumnMappingMode = metadata.columnMappingMode
  override protected val protocol: Protocol = snapshot.protocol

  /** By the table's own mapping. Where no columns are named, the schema is the physical one already. */
  override lazy val statCollectionPhysicalSchema: StructType =
    if (statsColumnSpec.deltaStatsColumnNamesOpt.isEmpty) statCollectionLogicalSchema
    else PhysicalSchema.of(statCollectionLogicalSchema, metadata)

  /** Delta asks for it since 4.1; the property is younger than that. */
  protected def getDataSkippingStringPrefixLength: Int =
    metadata.configuration.get("delta.dataSkippingStringPrefixLength").map(_.toInt)
      .getOrElse(session.sessionState.conf.getConf(DeltaSQLConf.DATA_SKIPPING_STRING_PREFIX_LENGTH))
}

private[analyze] object RowStatistics {

  /** Of rows that have all columns of a table. */
  def ofTable(table: DeltaHandle): RowStatistics = {
    val metadata = table.snapshot.metadata
    new RowStatistics(table.snapshot, table.session, PhysicalSchema.of(metadata.dataSchema, metadata))
  }
}
