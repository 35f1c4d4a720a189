package org.apache.spark.sql.delta.upkeep.read

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.{
  CheckpointInstance,
  CheckpointProvider,
  LogSegment,
  Snapshot,
  V2CheckpointProvider
}
import org.apache.spark.sql.delta.upkeep.table.{DamagedAction, DeltaHandle}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.delta.util.FileNames.CheckpointFile

/** From files to a checkpoint, and back. */
private[upkeep] object CheckpointFiles {

  def isJson(file: FileStatus): Boolean = file.getPath.getName.endsWith(".json")

  /** The top-level files of a checkpoint among the files of a log. */
  def topLevel(instance: CheckpointInstance, listed: Seq[FileStatus]): Seq[FileStatus] = listed.collect {
    case CheckpointFile(file, _) if CheckpointInstance(file.getPath) == instance => file
  }

  /** The checkpoint that some files make. A v2 checkpoint may have a classic name. */
  def checkpoint(handle: DeltaHandle, files: Seq[FileStatus]): CheckpointProvider = {
    val snapshot = handle.snapshot
    val instance = CheckpointInstance(files.head.getPath)
    val segment = LogSegment(
      handle.logPath,
      instance.version,
      deltas = Nil,
      Some(instance.getCheckpointProvider(snapshot.deltaLog, files)),
      snapshot.logSegment.lastCommitFileModificationTimestamp
    )
    // This finds out what kind of checkpoint it is.
    DamagedAction.inDelta {
      new Snapshot(handle.logPath, instance.version, segment, snapshot.deltaLog, snapshot.checksumOpt)
        .checkpointProvider
    }
  }

  /** The Parquet files that hold its file actions. Reads a top-level file. */
  def withFileActions(checkpoint: CheckpointProvider): Seq[FileStatus] =
    complete(checkpoint) match {
      case v2: V2CheckpointProvider => v2.sidecarFileStatuses
      case other => other.topLevelFiles
    }

  /** Its sidecars. Reads a top-level file. */
  def sidecars(checkpoint: CheckpointProvider): Seq[FileStatus] =
    complete(checkpoint) match {
      case v2: V2CheckpointProvider => v2.sidecarFileStatuses
      case _ => Nil
    }

  /** All its files, not only those with file actions. Reads a top-level file. */
  def all(checkpoint: CheckpointProvider): Seq[FileStatus] =
    (checkpoint.topLevelFiles ++ sidecars(checkpoint)).distinctBy(_.getPath)

  /** The same checkpoint, known with its sidecars. Reads a top-level file. */
  def complete(checkpoint: CheckpointProvider): CheckpointProvider =
    DamagedAction.inDelta(DeltaApi.current.complete(checkpoint))
}
