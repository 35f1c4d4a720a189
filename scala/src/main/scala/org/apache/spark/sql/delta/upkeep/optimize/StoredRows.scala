package org.apache.spark.sql.delta.upkeep.optimize

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.{RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.{Plans, SessionCopy}
import org.apache.spark.sql.internal.SQLConf

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
   * Delta resolves names without case, so a file may spell a column in another way than the table does. Of Spark's
   * readers, one asks the session of the relation, and the other the one that runs the plan.
   */
  private def withoutCase(session: SparkSession): SparkSession =
    if (!session.sessionState.conf.caseSensitiveAnalysis) session
    else SessionCopy.of(session)(_.setConf(SQLConf.CASE_SENSITIVE, false))

  def of(snapshot: Snapshot, files: Seq[AddFile], action: Option[String] = None): DataFrame = {
    val stored = snapshot.deltaLog.createDataFrame(snapshot, files, actionTypeOpt = action)
    val session = withoutCase(stored.sparkSession)
    val plan = SparkApi.mapFiles(stored.queryExecution.logical) { files =>
      files.copy(options = files.options ++ Plain)(session)
    }
    RowTracking.preserveRowTrackingColumns(Plans.run(session, plan), snapshot)
  }
}
