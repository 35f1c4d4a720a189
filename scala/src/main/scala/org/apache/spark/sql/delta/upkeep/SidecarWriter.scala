package org.apache.spark.sql.delta.upkeep

import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.mapreduce.Job

import org.apache.spark.TaskContext
import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.Checkpoints
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.functions.{coalesce, col}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** Sidecars as they were written. */
private[upkeep] final case class WrittenSidecars(files: Seq[FileStatus], schema: StructType)

/** Writes file actions to sidecars that later checkpoints can tell apart by the files they name. */
private[upkeep] final class SidecarWriter(handle: DeltaHandle) {

  private val snapshot = handle.snapshot

  /**
   * Writes them in one Spark job.
   *
   * @param fileActions columns `add` and `remove`
   * @param parts       sidecars to write
   * @param adds        in all of them, about; so are `removes`
   */
  def write(fileActions: DataFrame, parts: Int, adds: Long, removes: Long): WrittenSidecars = {
    val spread =
      if (parts == 1) fileActions.coalesce(1)
      else fileActions.repartition(parts, coalesce(col("add.path"), col("remove.path")))
    val shaped = Checkpoints.buildCheckpoint(
      spread.withColumn("remove", col("remove").dropFields("tags", "stats")),
      snapshot
    )
    val schema = shaped.schema.asNullable
    val conf = handle.hadoopConf
    SidecarFooter.bloomFilters(adds / parts, removes / parts).foreach { case (key, value) =>
      conf.set(key, value)
    }
    val job = Job.getInstance(conf)
    val factory = new ParquetFileFormat().prepareWrite(handle.session, job, Map.empty, schema)
    val taskConf = new SerializableConfiguration(job.getConfiguration)
    val useRename = snapshot.deltaLog.store.isPartialWriteVisible(handle.logPath, conf)
    val (log, version) = (SparkPath.fromPath(handle.logPath), snapshot.version)

    val query = shaped.queryExecution
    val files = SQLExecution.withNewExecutionId(query, Some("Delta Upkeep checkpoint")) {
      query.executedPlan
        .execute()
        .mapPartitions { rows =>
          val part = TaskContext.getPartitionId()
          val (writePath, finalPath) =
            Checkpoints.getCheckpointWritePath(
              taskConf.value,
              log.toPath,
              version,
              parts,
              part,
              useRename,
              v2CheckpointEnabled = true
            )
          val file = Checkpoints.writeSingleFileOnExecutor(
            taskConf.value,
            factory,
            schema,
            writePath,
            finalPath,
            useRename,
            part,
            parts,
            rows
          )
          Iterator(file)
        }
        .collect()
    }
    WrittenSidecars(files.map(_.toFileStatus).toSeq, schema)
  }
}
