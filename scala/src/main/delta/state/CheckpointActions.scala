package org.apache.spark.sql.delta.upkeep.state

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, CheckpointRows}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.StructType

/**
 * Reads the files of a table's checkpoint on the driver, in either format.
 *
 * @param columns of Parquet files; rows of JSON files are in those of [[CommitParser.Schema]]
 */
private[upkeep] final class CheckpointActions(handle: DeltaHandle, columns: StructType) {

  private lazy val parquet = new CheckpointRows(columns, handle.session, handle.hadoopConf)

  /** Calls `use` with each row of a file, which is valid until the next one. Thread-safe. */
  def foreach(file: FileStatus)(use: InternalRow => Unit): Unit =
    if (CheckpointFiles.isJson(file)) {
      val parser = new CommitParser(handle.hadoopConf, handle.session.sessionState.conf)
      CommitSplit.of(file).foreach(parser.foreach(_)(use))
    } else parquet.in(file).foreach(use)
}
