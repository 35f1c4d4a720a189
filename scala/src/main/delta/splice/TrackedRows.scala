package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.parquet.footer.Fill

import org.apache.spark.sql.delta.{
  IcebergCompat,
  MaterializedRowCommitVersion,
  MaterializedRowId,
  RowTracking,
  Snapshot
}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.types.{LongType, MetadataBuilder, StructField}

/**
 * The columns in which a new file keeps what its rows had before: their ids, and the versions that last changed them
 * (protocol, 'Row Tracking'). A file that was never rewritten has no such columns; its rows get their ids from their
 * positions, and their version from the file.
 */
private[upkeep] final class TrackedRows(snapshot: Snapshot) {
  import TrackedRows._
  import snapshot.{metadata, protocol}

  private val ids = MaterializedRowId.getMaterializedColumnName(protocol, metadata)
  private val versions = MaterializedRowCommitVersion.getMaterializedColumnName(protocol, metadata)

  val columns: Seq[StructField] =
    (ids.map(column(_, IcebergRowId)) ++ versions.map(column(_, IcebergSequenceNumber))).toSeq

  private def column(name: String, icebergId: Long): StructField =
    if (IcebergCompat.getEnabledVersion(metadata).exists(_ >= 3))
      StructField(name, LongType, metadata = new MetadataBuilder().putLong(FieldId, icebergId).build())
    else StructField(name, LongType)

  /** What to fill in where the file has no value in these columns. */
  def fills(add: AddFile): Map[String, Fill] = {
    val ofIds = for (name <- ids; base <- add.baseRowId) yield name -> Fill.RowNumber(base)
    val ofVersions =
      for (name <- versions; version <- add.defaultRowCommitVersion) yield name -> Fill.Constant(version)
    (ofIds ++ ofVersions).toMap
  }
}

private[upkeep] object TrackedRows {

  /** Ids by which Iceberg readers find these columns (Iceberg specification, 'Reserved Field IDs'). */
  private val IcebergRowId = 2147483540L
  private val IcebergSequenceNumber = 2147483539L
  private val FieldId = "parquet.field.id"

  /** Whether rows have ids, but the table does not say in which columns to keep them. */
  def isIncomplete(snapshot: Snapshot): Boolean =
    RowTracking.isEnabled(snapshot.protocol, snapshot.metadata) && new TrackedRows(snapshot).columns.size < 2
}
