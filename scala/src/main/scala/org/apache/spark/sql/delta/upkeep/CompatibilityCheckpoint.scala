package org.apache.spark.sql.delta.upkeep

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.delta.{CheckpointInstance, Checkpoints, DeltaLogFileIndex}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.util.FileNames

/**
 * The classic-named copy of a v2 checkpoint's top-level file, by which a reader without the v2Checkpoint feature
 * learns that it lacks it once commit 0 has gone (protocol, 'V2 Spec').
 */
private[upkeep] object CompatibilityCheckpoint {

  /**
   * Writes it where the newest checkpoint is UUID-named and has none beside it. Delta's cleanup does too, but not
   * by a rename: where that is cut short half a file stays, for good.
   */
  def write(table: DeltaHandle): Unit = {
    val newest = table.snapshot.checkpointProvider
    val path = FileNames.checkpointFileSingular(table.logPath, newest.version)
    newest.topLevelFiles.find(isUuidNamed).filterNot(_ => exists(path, table)).foreach { file =>
      val format =
        if (file.getPath.getName.endsWith(".json")) DeltaLogFileIndex.CHECKPOINT_FILE_FORMAT_JSON
        else DeltaLogFileIndex.CHECKPOINT_FILE_FORMAT_PARQUET
      val index = DeltaLogFileIndex(format, Array(file))
      Checkpoints.createCheckpointV2ParquetFile(
        table.session,
        table.snapshot.deltaLog.loadIndex(index, Action.logSchema),
        path,
        table.hadoopConf,
        useRename = table.showsPartialWrites
      )
    }
  }

  private def isUuidNamed(file: FileStatus): Boolean =
    CheckpointInstance(file.getPath).format == CheckpointInstance.Format.V2

  private def exists(path: Path, table: DeltaHandle): Boolean =
    path.getFileSystem(table.hadoopConf).exists(path)
}
