package org.apache.spark.sql.delta.upkeep

import io.deltaupkeep.checkpoint.{Fragment, TopLevelFormat}
import io.deltaupkeep.parquet.{RowGroupJoiner, RowGroupsOf}

import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.hadoop.util.{HadoopInputFile, HadoopOutputFile}

import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.{Checkpoints, LastCheckpointInfo, SerializableFileStatus, Snapshot}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.util.FileNames

/**
 * What makes up a checkpoint.
 *
 * @param fragments    with the files that they are in
 * @param otherActions actions about no file
 */
private[upkeep] final case class CheckpointContents(
    fragments: Seq[(Fragment, FileStatus)],
    otherActions: Seq[Action]
) {
  val adds: Long = fragments.map(_._1.adds).sum
  val addBytes: Long = fragments.map(_._1.addBytes).sum
  val fileActions: Long = fragments.map(_._1.actions).sum
}

/** Makes contents that were verified a checkpoint that readers see; says what `_last_checkpoint` is to say. */
private[upkeep] final class CheckpointPublisher(
    handle: DeltaHandle,
    session: ClassicSession,
    shape: CheckpointShape
) {

  private val snapshot = handle.snapshot
  private val deltaLog = snapshot.deltaLog
  private val conf = handle.hadoopConf
  private val useRename = deltaLog.store.isPartialWriteVisible(handle.logPath, conf)

  /** A top-level file that names the fragments, which are sidecars. */
  def v2(contents: CheckpointContents, format: TopLevelFormat): LastCheckpointInfo = {
    val sidecarBytes = contents.fragments.map(_._1.sizeInBytes).sum
    val (topLevel, otherActions, pointer, topLevelSchema) = Checkpoints.writeTopLevelV2Checkpoint(
      CheckpointWriter.deltaFormat(format),
      contents.fragments.map { case (_, file) => SerializableFileStatus.fromStatus(file) }.toArray,
      session,
      shape.sidecarSchema,
      new SnapshotOfCheckpoint(snapshot, contents.adds, contents.otherActions),
      deltaLog,
      contents.fileActions,
      sidecarBytes,
      conf,
      useRename
    )
    LastCheckpointInfo(
      version = snapshot.version,
      size = contents.fileActions + otherActions.size,
      parts = None,
      sizeInBytes = Some(sidecarBytes + topLevel.getLen),
      numOfAddFiles = Some(contents.adds),
      v2Checkpoint = Some(pointer),
      checkpointSchema = topLevelSchema
    )
  }

  /** One file of the fragments, copied as bytes. */
  def classic(contents: CheckpointContents, temporary: TemporaryFiles): LastCheckpointInfo = {
    val finalPath = FileNames.checkpointFileSingular(handle.logPath, snapshot.version)
    val writePath = if (useRename) temporary.newPath() else finalPath
    RowGroupJoiner.join(rowGroups(contents), HadoopOutputFile.fromPath(writePath, conf))
    val fs = finalPath.getFileSystem(conf)
    if (useRename) Checkpoints.renameAndCleanupTempPartFile(writePath, finalPath, fs)
    classicInfo(
      contents,
      contents.fileActions + contents.otherActions.size,
      parts = None,
      fs.getFileStatus(finalPath).getLen
    )
  }

  /** The files as they are, which are all parts of it. */
  def parts(contents: CheckpointContents): LastCheckpointInfo = {
    val files = contents.fragments.map(_._2)
    val rows = files.map(CheckpointFooter.read(_, conf)(_.rows)).sum
    classicInfo(contents, rows, Some(files.size), files.map(_.getLen).sum)
  }

  /** Fragments of one file are read in one go. */
  private def rowGroups(contents: CheckpointContents): Seq[RowGroupsOf] = {
    val byFile = contents.fragments.groupMap(_._2.getPath)(_._1)
    contents.fragments.map(_._2).distinctBy(_.getPath).map { file =>
      val ordinals = byFile(file.getPath).flatMap(_.rowGroup)
      RowGroupsOf(HadoopInputFile.fromStatus(file, conf), Option.when(ordinals.nonEmpty)(ordinals.sorted))
    }
  }

  private def classicInfo(
      contents: CheckpointContents,
      size: Long,
      parts: Option[Int],
      sizeInBytes: Long
  ): LastCheckpointInfo =
    LastCheckpointInfo(
      version = snapshot.version,
      size = size,
      parts = parts,
      sizeInBytes = Some(sizeInBytes),
      numOfAddFiles = Some(contents.adds),
      v2Checkpoint = None,
      checkpointSchema = Checkpoints.checkpointSchemaToWriteInLastCheckpointFile(session, shape.schema)
    )
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
