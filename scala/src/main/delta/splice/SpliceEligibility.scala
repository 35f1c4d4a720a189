package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.plan.compact.{RowsCause, Tier}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.{IcebergCompat, Snapshot}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.types._

/** Decides which tables the splice tiers may rewrite. For others, rows have to be read. */
private[upkeep] object SpliceEligibility {

  /** Why the files of a table have to be rewritten row by row, or None. */
  def rowsReason(session: SparkSession, snapshot: Snapshot): Option[Tier.Rows] = {
    val isSet = session.sessionState.conf.getConf(UpkeepConf.OptimizeEngine) == "rows"
    if (isSet) Some(Tier.Rows("spark.deltaUpkeep.optimize.engine is rows", RowsCause.Setting))
    else ofTable(snapshot).map(Tier.Rows(_, RowsCause.Table))
  }

  private def ofTable(snapshot: Snapshot): Option[String] =
    Seq(
      TrackedRows.isIncomplete(snapshot) -> "the table tracks rows but names no columns for their ids",
      IcebergCompat.getEnabledVersion(snapshot.metadata).exists(_ > 3) ->
        "only Delta writes files for Iceberg compatibility above version 3"
    ).collectFirst { case (true, reason) => reason }.orElse(foreignType(snapshot.dataSchema))

  /** Types whose files may hold more than the table's schema says. */
  def foreignType(dataType: DataType): Option[String] = dataType match {
    case struct: StructType =>
      struct.fields.iterator.flatMap(field => foreignType(field.dataType)).nextOption()
    case ArrayType(element, _) => foreignType(element)
    case MapType(key, value, _) => foreignType(key).orElse(foreignType(value))
    case _: StringType | _: NumericType | BooleanType | BinaryType => None
    case DateType | TimestampType | TimestampNTZType => None
    case variant if SparkApi.isVariant(variant) => None
    case other => Some(s"a column has type ${other.simpleString}")
  }
}
