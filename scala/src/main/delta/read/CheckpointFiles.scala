package org.apache.spark.sql.delta.upkeep.read

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.{
  CheckpointInstance,
  CheckpointProvider,
  LogSegment,
  Snapshot,
  V2CheckpointProvider
}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** From files to a checkpoint, and back. */
private[upkeep] object CheckpointFiles {

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
    new Snapshot(handle.logPath, instance.version, segment, snapshot.deltaLog, snapshot.checksumOpt)
      .checkpointProvider
  }

  /** The Parquet files that hold its file actions. Reads a top-level file. */
  def withFileActions(checkpoint: CheckpointProvider): Seq[FileStatus] =
    DeltaApi.current.complete(checkpoint) match {
      case v2: V2CheckpointProvider => v2.sidecarFileStatuses
      case other => other.topLevelFiles
    }

  /** Its sidecars. Reads a top-level file. */
  def sidecars(checkpoint: CheckpointProvider): Seq[FileStatus] =
    DeltaApi.current.complete(checkpoint) match {
      case v2: V2CheckpointProvider => v2.sidecarFileStatuses
      case _ => Nil
    }

  /** All its files, not only those with file actions. Reads a top-level file. */
  def all(checkpoint: CheckpointProvider): Seq[FileStatus] =
    (checkpoint.topLevelFiles ++ sidecars(checkpoint)).distinctBy(_.getPath)
}
