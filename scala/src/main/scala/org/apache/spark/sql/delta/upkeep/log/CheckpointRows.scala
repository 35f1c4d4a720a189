package org.apache.spark.sql.delta.upkeep.log

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus

import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.execution.datasources.{FileFormat, PartitionedFile}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType

/**
 * Reads Parquet files of checkpoints on the driver, without a Spark job.
 *
 * @param columns of Delta's log
 */
private[upkeep] final class CheckpointRows(
    columns: StructType,
    session: ClassicSession,
    conf: Configuration
) {

  private val read = new ParquetFileFormat().buildReaderWithPartitionValues(
    session,
    Action.logSchema,
    partitionSchema = new StructType,
    requiredSchema = columns,
    filters = Nil,
    options = Map(FileFormat.OPTION_RETURNING_BATCH -> "false"),
    conf
  )

  /** Rows of the row groups in a range of a file. Each row is valid until the next one. Thread-safe. */
  def in(file: FileStatus, range: ByteRange): Iterator[InternalRow] =
    read(PartitionedFile(InternalRow.empty, SparkPath.fromFileStatus(file), range.start, range.length))
}

/** Bytes of a file. */
private[upkeep] final case class ByteRange(start: Long, length: Long)
