package org.apache.spark.sql.delta.upkeep.optimize

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.{RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.{Plans, SessionCopy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType
import org.apache.spark.sql.types.{Decimal, DecimalType}

/** The rows of data files as Delta reads them: without deleted rows, with row ids where the table tracks them. */
private[upkeep] object StoredRows {

  /**
   * Turns vectored reads off. Spark 4.2 misreads uncompressed DELTA_BYTE_ARRAY pages if a vectored read
   * returns them as slices of a larger array, as local file systems do: VectorizedDeltaByteArrayReader
   * ignores the array offset. A rewrite would store the wrong values for good. Every column is read, in one
   * range per row group, so a vectored read would save little.
   */
  private val Plain = Map("parquet.hadoop.vectored.io.enabled" -> "false")

  /**
   * The settings of a session in which Spark reads what the files hold, and loses nothing of it when it writes. Delta
   * resolves names without case, so a file may spell a column in another way than the table does. Of Spark's readers,
   * one asks the session of the relation, and the other the one that runs the plan.
   */
  private def settings(session: SparkSession, snapshot: Snapshot): Map[String, String] = {
    val wanted = Map(SQLConf.CASE_SENSITIVE.key -> "false") ++
      (if (needsBatches(snapshot)) Batches else Map.empty) ++
      (if (session.conf.get(Timestamps) == ParquetOutputTimestampType.TIMESTAMP_MILLIS.toString)
         Map(Timestamps -> ParquetOutputTimestampType.TIMESTAMP_MICROS.toString)
       else Map.empty)
    wanted.filter { case (key, value) => session.conf.get(key) != value }
  }

  private val Timestamps = SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key

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

  private def sessionFor(snapshot: Snapshot, session: SparkSession): SparkSession = {
    val own = settings(session, snapshot)
    if (own.isEmpty) session
    else SessionCopy.of(session)(conf => own.foreach { case (key, value) => conf.setConfString(key, value) })
  }

  def of(snapshot: Snapshot, files: Seq[AddFile], action: Option[String] = None): DataFrame = {
    val stored = snapshot.deltaLog.createDataFrame(snapshot, files, actionTypeOpt = action)
    val session = sessionFor(snapshot, stored.sparkSession)
    val plan = SparkApi.mapFiles(stored.queryExecution.logical) { files =>
      files.copy(options = files.options ++ Plain)(session)
    }
    RowTracking.preserveRowTrackingColumns(Plans.run(session, plan), snapshot)
  }
}
