package org.apache.spark.sql.delta.upkeep.analyze

import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.rewrite.StoredRows
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, PhysicalSchema}
import org.apache.spark.sql.delta.upkeep.versions.NewFile
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.sql.functions.{input_file_name, to_json}

/** Makes the statistics of files as Delta's writer makes them, by reading all of their rows. */
private[analyze] final class FileStatistics(handle: DeltaHandle) {
  import FileStatistics._

  private val snapshot = handle.snapshot
  private val root = snapshot.deltaLog.dataPath.toString
  private val rows = new StoredRows(snapshot, handle.session)
  private val merged =
    new MergedStats(PhysicalSchema.of(snapshot.metadata.dataSchema, snapshot.metadata))

  /** The statistics of each file, as JSON. They count rows that a deletion vector hides. */
  def of(files: Seq[AddFile]): Map[AddFile, String] = handle.session.withActive {
    val byName = files.map(file => absolute(file.path) -> file).toMap
    val whole = files.map(NewFile.changed(_)(deletionVector = null))
    val found = rows.of(whole)
      .withColumn(Name, input_file_name())
      .groupBy(Name)
      .agg(to_json(snapshot.statsCollector))
      .collect()
      .map(row => byName(absolute(row.getString(0))) -> merged.certain(row.getString(1)))
      .toMap
    files.map(file => file -> ofFile(file, found.getOrElse(file, NoRows))).toMap
  }

  private def ofFile(file: AddFile, stats: String): String =
    if (file.deletionVector == null) stats else MergedStats.withWideBounds(stats).getOrElse(stats)

  private def absolute(path: String): String = DeltaFileOperations.absolutePath(root, path).toString
}

private object FileStatistics {
  private val Name = "__delta_upkeep_file"

  /** A file without rows is in no group. */
  private val NoRows = """{"numRecords":0,"minValues":{},"maxValues":{},"nullCount":{}}"""
}
