package org.apache.spark.sql.delta.upkeep.optimize

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.{RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.{Plans, SessionCopy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType
import org.apache.spark.sql.types.{Decimal, DecimalType}

/**
 * The rows of data files as Delta reads them: without deleted rows, with row ids where the table tracks them. A session
 * of its own makes Spark read what the files hold, and lose nothing of it when it writes.
 */
private[upkeep] final class StoredRows(snapshot: Snapshot, session: SparkSession) {
  import StoredRows._

  private lazy val own = SessionCopy.of(session)(conf =>
    settings(snapshot).foreach { case (key, value) => conf.setConfString(key, value) }
  )

  def of(files: Seq[AddFile], action: Option[String] = None): DataFrame = {
    val stored = snapshot.deltaLog.createDataFrame(snapshot, files, actionTypeOpt = action)
    // Of Spark's readers, one asks the session of the relation, and the other the one that runs the plan.
    val plan = SparkApi.mapFiles(stored.queryExecution.logical) { files =>
      files.copy(options = files.options ++ Options)(own)
    }
    RowTracking.preserveRowTrackingColumns(Plans.run(own, plan), snapshot)
  }
}

private object StoredRows {

  /**
   * Turns vectored reads off. Spark 4.2 misreads uncompressed DELTA_BYTE_ARRAY pages if a vectored read
   * returns them as slices of a larger array, as local file systems do: VectorizedDeltaByteArrayReader
   * ignores the array offset. A rewrite would store the wrong values for good. Every column is read, in one
   * range per row group, so a vectored read would save little. And a file that is damaged or not there is an
   * error, although a session may leave out its rows.
   */
  private val Options = Map(
    "parquet.hadoop.vectored.io.enabled" -> "false",
    FileSourceOptions.IGNORE_CORRUPT_FILES -> "false",
    FileSourceOptions.IGNORE_MISSING_FILES -> "false"
  )

  private def settings(snapshot: Snapshot): Map[String, String] =
    Always ++ (if (needsBatches(snapshot)) Batches else Map.empty)

  private val Always = Map(
    // Delta resolves names without case, so a file may spell a column in another way than the table does.
    SQLConf.CASE_SENSITIVE.key -> "false",
    // A CHAR column keeps the blanks that it has, and no others.
    SQLConf.READ_SIDE_CHAR_PADDING.key -> "false",
    // Other forms of timestamps lose digits or old years, or have no bounds.
    SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key -> ParquetOutputTimestampType.TIMESTAMP_MICROS.toString,
    SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key -> "CORRECTED"
  )

  private val Batches = Map(
    SQLConf.PARQUET_VECTORIZED_READER_ENABLED.key -> "true",
    SQLConf.PARQUET_VECTORIZED_READER_NESTED_COLUMN_ENABLED.key -> "true"
  )

  /**
   * Where a file lacks a column, Spark's reader of single rows takes the last columns of the table for those that it
   * lacks (`ParquetRowConverter`), and supplies their defaults in place of what it has. The reader of batches does not, but
   * cannot supply long decimals.
   */
  private def needsBatches(snapshot: Snapshot): Boolean = {
    val defaults = snapshot.schema.filter(_.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY))
    defaults.nonEmpty && !defaults.exists(_.dataType.existsRecursively {
      case decimal: DecimalType => decimal.precision > Decimal.MAX_LONG_DIGITS
      case _ => false
    })
  }
}
