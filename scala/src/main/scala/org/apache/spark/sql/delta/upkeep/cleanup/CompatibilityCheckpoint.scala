package org.apache.spark.sql.delta.upkeep.cleanup

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.{CheckpointInstance, Checkpoints, FileBasedCheckpointProvider}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.log.CheckpointFooter
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames

/**
 * The classic-named copy of a v2 checkpoint's top-level file, by which a reader without the v2Checkpoint feature
 * learns that it lacks it once commit 0 has gone (protocol, 'V2 Spec').
 */
private[upkeep] object CompatibilityCheckpoint {

  /**
   * Writes it where the newest checkpoint is UUID-named and has none beside it that can be read. Delta's cleanup does
   * too, but not by a rename: where that is cut short half a file stays, for good. A rename serves where a partial
   * write is not visible too, for a task that is interrupted may publish half a file.
   */
  def write(table: DeltaHandle): Unit = table.snapshot.checkpointProvider match {
    case newest: FileBasedCheckpointProvider if newest.topLevelFiles.exists(isUuidNamed) =>
      val path = FileNames.checkpointFileSingular(table.logPath, newest.version)
      val fs = path.getFileSystem(table.hadoopConf)
      val found = Option.when(fs.exists(path))(fs.getFileStatus(path))
      val isThere = found.exists(CheckpointFooter.isWhole(_, table.hadoopConf)(_ => true))
      newest.topLevelFileIndex.filterNot(_ => isThere).foreach { index =>
        // A rename replaces nothing.
        found.foreach(file => fs.delete(file.getPath, false))
        Checkpoints.createCheckpointV2ParquetFile(
          table.session,
          table.snapshot.deltaLog.loadIndex(index, Action.logSchema),
          path,
          table.hadoopConf,
          useRename = true
        )
      }
    case _ => ()
  }

  private def isUuidNamed(file: FileStatus): Boolean =
    CheckpointInstance(file.getPath).format == CheckpointInstance.Format.V2
}
