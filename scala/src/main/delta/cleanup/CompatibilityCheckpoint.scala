package org.apache.spark.sql.delta.upkeep.cleanup

import java.util.UUID

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.delta.{CheckpointInstance, Checkpoints, DeltaLogFileIndex}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, CheckpointFooter, WholeCheckpoint, Wholeness}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames

/**
 * The copy of a v2 checkpoint's top-level file under a classic name. Once commit 0 is deleted, a reader
 * without the v2Checkpoint feature learns from it that it needs the feature (protocol, 'V2 Spec').
 */
private[upkeep] object CompatibilityCheckpoint {

  /**
   * Writes it if the newest checkpoint has a UUID in its name and no readable copy, and is whole: a copy of a
   * damaged one would outlive its removal. Delta's cleanup does not check, and writes without a rename: if it is
   * cut short, half a file stays for good. The rename also helps on stores where a partial write is not
   * visible, because an interrupted task may publish half a file.
   */
  def write(table: DeltaHandle): Unit = {
    val newest = table.snapshot.checkpointProvider
    def isWhole = new WholeCheckpoint(table).check(newest.version, newest) == Wholeness.Whole
    newest.topLevelFiles.find(isUuidNamed).foreach { topLevel =>
      val path = FileNames.checkpointFileSingular(table.logPath, newest.version)
      val fs = path.getFileSystem(table.hadoopConf)
      val found = Option.when(fs.exists(path))(fs.getFileStatus(path))
      val isThere = found.exists(CheckpointFooter.isWhole(_, table.hadoopConf)(_ => true))
      if (!isThere && isWhole) {
        val written = new Path(path.getParent, s".${path.getName}.${UUID.randomUUID}.tmp")
        Checkpoints.createCheckpointV2ParquetFile(
          table.session,
          table.snapshot.deltaLog.loadIndex(indexOf(topLevel), Action.logSchema),
          written,
          table.hadoopConf,
          useRename = false
        )
        // A rename does not replace a file.
        found.foreach(file => fs.delete(file.getPath, false))
        Checkpoints.renameAndCleanupTempPartFile(written, path, fs)
      }
    }
  }

  private def indexOf(topLevel: FileStatus): DeltaLogFileIndex = {
    val format =
      if (CheckpointFiles.isJson(topLevel)) DeltaLogFileIndex.CHECKPOINT_FILE_FORMAT_JSON
      else DeltaLogFileIndex.CHECKPOINT_FILE_FORMAT_PARQUET
    DeltaLogFileIndex(format, Array(topLevel))
  }

  private def isUuidNamed(file: FileStatus): Boolean =
    CheckpointInstance(file.getPath).format == CheckpointInstance.Format.V2
}
