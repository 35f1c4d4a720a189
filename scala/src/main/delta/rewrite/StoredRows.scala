package org.apache.spark.sql.delta.upkeep.rewrite

import scala.collection.immutable.BitSet

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Union}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.{RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.{Plans, SessionCopy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType

/**
 * The rows of data files as Delta reads them: without deleted rows, with row ids where the table tracks them. A session
 * of its own makes Spark read what the files hold, and lose nothing of it when it writes.
 */
private[upkeep] final class StoredRows(snapshot: Snapshot, session: SparkSession) {
  import StoredRows._

  private lazy val own = SessionCopy.of(session)(conf =>
    Settings.foreach { case (key, value) => conf.setConfString(key, value) }
  )
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

  /** As rows that are given: Spark would put them in order along a curve for each of the frames by itself. */
  private def united(frames: Seq[DataFrame]): DataFrame = {
    val rows = Plans.run(own, Union(frames.map(_.queryExecution.analyzed)))
    own.internalCreateDataFrame(rows.queryExecution.toRdd, rows.schema)
  }

  private def read(files: Seq[AddFile], action: Option[String], lacked: BitSet): DataFrame = {
    val stored = snapshot.deltaLog.createDataFrame(snapshot, files, actionTypeOpt = action)
    // Of Spark's readers, one asks the session of the relation, and the other the one that runs the plan.
    val plan = SparkApi.mapFiles(stored.queryExecution.logical) { files =>
      files.copy(options = files.options ++ Options)(own)
    }
    RowTracking.preserveRowTrackingColumns(Plans.run(own, supplying(plan, lacked)), snapshot)
  }

  /**
   * Has Spark read only what the files have. Where a file lacks a column, its reader of single rows takes the last columns
   * of the table for those that it lacks (`ParquetRowConverter`), and supplies their defaults in place of what it has.
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
   * range per row group, so a vectored read would save little. And a file that is damaged or not there is an
   * error, although a session may leave out its rows.
   */
  private val Options = Map(
    "parquet.hadoop.vectored.io.enabled" -> "false",
    FileSourceOptions.IGNORE_CORRUPT_FILES -> "false",
    FileSourceOptions.IGNORE_MISSING_FILES -> "false"
  )

  private val Settings = Map(
    // Delta resolves names without case, so a file may spell a column in another way than the table does.
    SQLConf.CASE_SENSITIVE.key -> "false",
    // A CHAR column keeps the blanks that it has, and no others.
    SQLConf.READ_SIDE_CHAR_PADDING.key -> "false",
    // Other forms of timestamps lose digits or old years, or have no bounds.
    SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key -> ParquetOutputTimestampType.TIMESTAMP_MICROS.toString,
    SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key -> "CORRECTED"
  )
}
