package org.apache.spark.sql.delta.upkeep.rewrite

import scala.collection.immutable.BitSet

import io.deltaupkeep.parquet.encoding.Compression

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Union}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.{IdMapping, RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.{Plans, SessionCopy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType

/**
 * The rows of data files as Delta reads them: without deleted rows, with row ids where the table tracks them. A
 * separate session makes Spark read exactly what the files hold, and write it without loss.
 *
 * @param compression of files that the rows are written to; None for the session's
 * @param settings    of the separate session, in addition
 */
private[upkeep] final class StoredRows(
    snapshot: Snapshot,
    session: SparkSession,
    compression: Option[Compression] = None,
    settings: Map[String, String] = Map.empty
) {
  import StoredRows._

  private lazy val own = SessionCopy.of(session) { conf =>
    (Settings ++ settings).foreach { case (key, value) => conf.setConfString(key, value) }
    compression.foreach { asked =>
      conf.setConf(SQLConf.PARQUET_COMPRESSION, asked.codecName)
      asked.hadoopSettings.foreach { case (key, value) => conf.setConfString(key, value) }
    }
    // Otherwise every value of a file without ids would be read as null.
    if (snapshot.metadata.columnMappingMode == IdMapping)
      conf.setConf(SQLConf.IGNORE_MISSING_PARQUET_FIELD_ID, false)
  }
  private lazy val lacked = new LackedColumns(snapshot, session)
  private val columns = snapshot.metadata.dataSchema
  private val haveDefaults = columns.exists(_.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY))

  def of(files: Seq[AddFile], action: Option[String] = None): DataFrame = {
    val bySchema = if (haveDefaults && files.nonEmpty) lacked.of(files) else Map(BitSet.empty -> files)
    bySchema.map { case (columns, alike) => read(alike, action, columns) }.toSeq match {
      case Seq(rows) => rows
      case several => united(several)
    }
  }

  /** As an RDD: otherwise Spark would order the rows of each frame along a curve separately. */
  private def united(frames: Seq[DataFrame]): DataFrame = {
    val rows = Plans.run(own, Union(frames.map(_.queryExecution.analyzed)))
    own.internalCreateDataFrame(rows.queryExecution.toRdd, rows.schema)
  }

  private def read(files: Seq[AddFile], action: Option[String], lacked: BitSet): DataFrame = {
    val stored = snapshot.deltaLog.createDataFrame(snapshot, files, actionTypeOpt = action)
    // One of Spark's readers uses the session of the relation, the other the one that runs the plan.
    val plan = SparkApi.mapFiles(stored.queryExecution.logical) { files =>
      files.copy(options = files.options ++ Options)(own)
    }
    RowTracking.preserveRowTrackingColumns(Plans.run(own, supplying(plan, lacked)), snapshot)
  }

  /**
   * Makes Spark read only what the files have. If a file lacks columns, Spark's row-based reader mistakes the last
   * columns of the table for them (`ParquetRowConverter`), and supplies their defaults in place of stored values.
   */
  private def supplying(plan: LogicalPlan, lacked: BitSet): LogicalPlan =
    if (lacked.isEmpty) plan
    else {
      val defaults = ResolveDefaultColumns.existenceDefaultValues(columns)
      val supplied = lacked.iterator.map(i => columns(i).name -> defaults(i)).toMap
      val selected = plan.output.map { column =>
        supplied.get(column.name).fold[NamedExpression](column) { value =>
          Alias(Literal(value, column.dataType), column.name)(explicitMetadata = Some(column.metadata))
        }
      }
      Project(selected, plan)
    }
}

private object StoredRows {

  /**
   * Turns vectored reads off. Spark 4.2 misreads uncompressed DELTA_BYTE_ARRAY pages if a vectored read
   * returns them as slices of a larger array, as local file systems do: VectorizedDeltaByteArrayReader
   * ignores the array offset. A rewrite would store the wrong values for good. Every column is read, in one
   * range per row group, so a vectored read would save little. Damaged and missing files are errors, although
   * a session may leave out their rows.
   */
  private val Options = Map(
    "parquet.hadoop.vectored.io.enabled" -> "false",
    FileSourceOptions.IGNORE_CORRUPT_FILES -> "false",
    FileSourceOptions.IGNORE_MISSING_FILES -> "false"
  )

  private val Settings = Map(
    // Delta resolves names case-insensitively, so a file may spell a column differently than the table does.
    SQLConf.CASE_SENSITIVE.key -> "false",
    // A CHAR column keeps the blanks that it has, and no others.
    SQLConf.READ_SIDE_CHAR_PADDING.key -> "false",
    // Other types of timestamps lose digits or old years, or have no bounds.
    SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key -> ParquetOutputTimestampType.TIMESTAMP_MICROS.toString,
    SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key -> "CORRECTED"
  )
}
