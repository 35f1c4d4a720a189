package org.apache.spark.sql.delta.upkeep

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.checkpoint.{Sidecar, SidecarPlan, TopLevelFormat}

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.{Checkpoints, LastCheckpointInfo, SerializableFileStatus, Snapshot}
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.types.StructType

/** Writes a v2 checkpoint that shares sidecars with the last one. */
private[upkeep] final class IncrementalCheckpoint(handle: DeltaHandle, base: CheckpointBase) {

  private val snapshot = handle.snapshot
  private val deltaLog = snapshot.deltaLog
  private val conf = handle.hadoopConf

  /**
   * Writes every file of it.
   *
   * @return what `_last_checkpoint` is to say
   * @throws UpkeepException `CHECKPOINT_MISMATCH`: it would hold other files than the table, and nothing is
   *                         published
   */
  def write(
      session: ClassicSession,
      format: TopLevelFormat,
      sidecars: SidecarPlan,
      parts: Int
  ): LastCheckpointInfo = {
    val written =
      if (parts == 0) WrittenSidecars(Nil, Action.logSchema) else writeSidecars(sidecars.replaced, parts)
    val all = sidecars.kept ++ written.files.map(SidecarFooter.read(_, conf)(_.sidecar))
    val adds = all.map(_.adds).sum
    snapshot.checksumOpt.map(_.numFiles).filter(_ != adds).foreach { expected =>
      throw UpkeepErrors.checkpointMismatch(handle.name, snapshot.version, adds, expected)
    }
    publish(session, format, all, sidecars.kept.map(base.file) ++ written.files, written.schema, adds)
  }

  private def writeSidecars(replaced: Seq[Sidecar], parts: Int): WrittenSidecars = {
    val (adds, removes) = base.tail.fileActions.partition(_.isInstanceOf[AddFile])
    new SidecarWriter(handle).write(
      base.fileActions(replaced),
      parts,
      adds.size + replaced.map(_.adds).sum,
      removes.size + replaced.map(_.removes).sum
    )
  }

  private def publish(
      session: ClassicSession,
      format: TopLevelFormat,
      sidecars: Seq[Sidecar],
      files: Seq[FileStatus],
      schema: StructType,
      adds: Long
  ): LastCheckpointInfo = {
    snapshot.ensureCommitFilesBackfilled(handle.table.catalogTable)
    val sidecarBytes = sidecars.map(_.sizeInBytes).sum
    val fileActions = sidecars.map(_.actions).sum
    val (topLevel, otherActions, pointer, topLevelSchema) = Checkpoints.writeTopLevelV2Checkpoint(
      CheckpointWriter.deltaFormat(format),
      files.map(SerializableFileStatus.fromStatus).toArray,
      session,
      schema,
      new SnapshotOfCheckpoint(snapshot, adds, base.tail.nonFileActions),
      deltaLog,
      fileActions,
      sidecarBytes,
      conf,
      useRename = deltaLog.store.isPartialWriteVisible(handle.logPath, conf)
    )
    LastCheckpointInfo(
      version = snapshot.version,
      size = fileActions + otherActions.size,
      parts = None,
      sizeInBytes = Some(sidecarBytes + topLevel.getLen),
      numOfAddFiles = Some(adds),
      v2Checkpoint = Some(pointer),
      checkpointSchema = topLevelSchema
    )
  }
}

/** The same version of the table, with the parts of its state that a checkpoint tells: nothing is replayed. */
private final class SnapshotOfCheckpoint(original: Snapshot, adds: Long, actions: Seq[Action])
    extends Snapshot(
      original.path,
      original.version,
      original.logSegment,
      original.deltaLog,
      original.checksumOpt
    ) {

  override def numOfFiles: Long = adds

  override private[delta] lazy val nonFileActions: Seq[Action] = actions
}
