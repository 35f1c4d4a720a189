package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.UpkeepConf

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.{IcebergCompat, Snapshot}
import org.apache.spark.sql.types._

/** Decides which tables the splice tiers may rewrite. For others, rows have to be read. */
private[upkeep] object SpliceEligibility {

  /** Why the files of a table have to be rewritten row by row, or None. */
  def rowsReason(session: SparkSession, snapshot: Snapshot): Option[String] = {
    val conf = session.sessionState.conf
    val metadata = snapshot.metadata
    val protocol = snapshot.protocol
    // By their names, since not every Delta has them.
    val writesPartitions =
      metadata.configuration.get("delta.writePartitionColumnsToParquet").exists(
        !_.equalsIgnoreCase("false")
      ) ||
        protocol.readerAndWriterFeatureNames.contains("materializePartitionColumns")
    Seq(
      (conf.getConf(UpkeepConf.OptimizeEngine) == "rows") -> "spark.deltaUpkeep.optimize.engine is rows",
      TrackedRows.isIncomplete(snapshot) -> "the table names no columns for row ids",
      IcebergCompat.isAnyEnabled(metadata) -> "Iceberg compatibility asks for files of Delta's writer",
      (writesPartitions && metadata.partitionColumns.nonEmpty) -> "partition columns are stored in the files"
    ).collectFirst { case (true, reason) => reason }.orElse(foreignType(snapshot.dataSchema))
  }

  /** Types whose files may hold more than the table's schema says, such as shredded variants. */
  def foreignType(dataType: DataType): Option[String] = dataType match {
    case struct: StructType =>
      struct.fields.iterator.flatMap(field => foreignType(field.dataType)).nextOption()
    case ArrayType(element, _) => foreignType(element)
    case MapType(key, value, _) => foreignType(key).orElse(foreignType(value))
    case text: StringType if SparkApi.comparesBytes(text) => None
    case _: NumericType | BooleanType | BinaryType | DateType | TimestampType | TimestampNTZType => None
    case other => Some(s"a column is of type ${other.simpleString}")
  }
}
