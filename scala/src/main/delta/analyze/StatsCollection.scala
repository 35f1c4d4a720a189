package org.apache.spark.sql.delta.upkeep.analyze

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.functions.to_json
import org.apache.spark.sql.types.StructType

/** Has Delta's collector make the statistics of rows. */
private[analyze] object StatsCollection {

  /** The column with the name of a row's file. */
  val FileName = "__delta_upkeep_file"

  /** The session's zone would cut the seconds off the offsets of old times, and its calendar may be the Julian one. */
  val Settings: Map[String, String] = Map(
    "spark.sql.session.timeZone" -> "UTC",
    "spark.sql.legacy.timeParserPolicy" -> "CORRECTED",
    "spark.sql.jsonGenerator.ignoreNullFields" -> "true"
  )

  /**
   * The statistics of each file with rows, as JSON.
   *
   * @param rows data columns by their physical names, and [[FileName]], in a session with [[Settings]]
   */
  def byFile(snapshot: Snapshot, rows: DataFrame): Map[String, String] = {
    val schema = StructType(rows.schema.filterNot(_.name == FileName))
    rows
      .groupBy(FileName)
      .agg(to_json(new RowStatistics(snapshot, schema).statsCollector))
      .collect()
      .map(row => row.getString(0) -> row.getString(1))
      .toMap
  }
}
