package org.apache.spark.sql.delta.upkeep.commit

import org.apache.spark.sql.delta.{DeltaColumnMapping, NoMapping}
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.types.{MetadataBuilder, StructField}

/** Decides whether files that were written for one version of a table also fit a later one. */
private[upkeep] object LaterMetadata {

  private val HighWaterMark = "delta.identity.highWaterMark"
  private val MaxColumnId = "delta.columnMapping.maxColumnId"

  /** Properties that do not concern data files; the last one counts all columns ever added. */
  private val OfNoFile = Set(
    "delta.checkpointInterval",
    "delta.logRetentionDuration",
    "delta.deletedFileRetentionDuration",
    "delta.setTransactionRetentionDuration",
    "delta.enableExpiredLogCleanup",
    "delta.autoOptimize.autoCompact",
    "delta.autoOptimize.optimizeWrite",
    "delta.targetFileSize",
    MaxColumnId
  )

  /** Columns may have been added to the table if no file can have values for them. */
  def takesFiles(written: Metadata, now: Metadata): Boolean = {
    val (before, after) = (columnsOf(written), columnsOf(now))
    written.id == now.id && written.partitionColumns == now.partitionColumns &&
    ofFiles(written.configuration) == ofFiles(now.configuration) &&
    (before -- after).isEmpty && (after -- before).forall(isNewSince(written, _))
  }

  /**
   * Without column mapping, input files may already hold values under the name of an added column. With it, an id
   * higher than any assigned before comes with a name that no file has. RESTORE brings back a dropped column with its
   * old id.
   */
  private def isNewSince(written: Metadata, column: StructField): Boolean =
    written.columnMappingMode != NoMapping && DeltaColumnMapping.hasColumnId(column) &&
      written.configuration.get(MaxColumnId).exists(DeltaColumnMapping.getColumnId(column) > _.toLong)

  private def ofFiles(properties: Map[String, String]): Map[String, String] =
    properties.filter { case (key, _) => key.startsWith("delta.") && !OfNoFile(key) }

  /** Without the marks of identity columns, which other writers' commits move (protocol, 'Identity Columns'). */
  private def columnsOf(metadata: Metadata): Set[StructField] = metadata.schema.map { field =>
    field.copy(metadata = new MetadataBuilder().withMetadata(field.metadata).remove(HighWaterMark).build())
  }.toSet
}
