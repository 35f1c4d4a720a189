package org.apache.spark.sql.delta.upkeep

import io.deltaupkeep.checkpoint.{Base, Build, CheckpointPlan, Policy, TopLevelFormat, WrittenCheckpoint}
import io.deltaupkeep.cleanup.{LogDirectory, LogFile}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.{
  Checkpoints,
  CheckpointPolicy,
  DeltaConfigs,
  LastCheckpointInfo,
  Snapshot,
  V2Checkpoint,
  SnapshotState
}
import org.apache.spark.sql.delta.actions.{Action, Metadata}
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.util.FileNames

/**
 * Writes checkpoints: on the last one where the plan says so, else from the whole state with Delta's own writer.
 */
final class CheckpointWriter(handle: DeltaHandle) {

  private val snapshot = handle.snapshot

  /** Adds and tombstones of this version; replays the log where Delta has not done so yet. */
  def fileActions: Long = snapshot.numOfFiles + snapshot.numOfRemoves

  /** Files of the log that belong to checkpoints of this version. One listing from that version on. */
  def checkpointFiles: Seq[LogFile] = {
    val deltaLog = snapshot.deltaLog
    deltaLog.store
      .listFrom(FileNames.listingPrefix(handle.logPath, snapshot.version), handle.hadoopConf)
      .takeWhile(file => FileNames.getFileVersionOpt(file.getPath).forall(_ <= snapshot.version))
      .filter(FileNames.isCheckpointFile)
      .map(file => LogFile(LogDirectory.Root, file.getPath.getName, file.getLen, file.getModificationTime))
      .toSeq
  }

  private lazy val lastCheckpoint: Either[String, CheckpointBase] = CheckpointBase.of(handle)

  /** What a v2 checkpoint can build on, or why on nothing. Reads the commits since the last checkpoint. */
  def base: Either[String, Base] =
    lastCheckpoint.map(last => Base(last.sidecars, last.tail.fileActions.size.toLong))

  /** Writes the checkpoint, and `_last_checkpoint` once every file of it is there. */
  def write(plan: CheckpointPlan): WrittenCheckpoint = {
    val deltaLog = snapshot.deltaLog
    val session = sessionFor(plan)
    val info = plan.build match {
      case Build.Incremental(sidecars, _, parts) =>
        val last = lastCheckpoint.fold(why => throw new IllegalStateException(why), identity)
        new IncrementalCheckpoint(handle, last).write(session, plan.format, sidecars, parts)
      case _ => writeInFull(session, plan)
    }
    deltaLog.writeLastCheckpointFile(deltaLog, info, LastCheckpointInfo.checksumEnabled(session))
    WrittenCheckpoint(
      numActions = info.size,
      numAddFiles = info.numOfAddFiles.getOrElse(snapshot.numOfFiles),
      parts =
        info.parts.orElse(info.v2Checkpoint.flatMap(_.sidecarFiles).map(_.size)).getOrElse(plan.build.parts),
      sizeInBytes = info.sizeInBytes.getOrElse(0L)
    )
  }

  private def writeInFull(session: ClassicSession, plan: CheckpointPlan): LastCheckpointInfo = {
    if (plan.policy == Policy.V2) {
      val parts = plan.build.parts
      SidecarFooter
        .bloomFilters(snapshot.numOfFiles / parts, snapshot.numOfRemoves / parts)
        .foreach { case (key, value) => session.sessionState.conf.setConfString(key, value) }
    }
    // Delta takes the settings of the files from the active session.
    session.withActive {
      Checkpoints.writeCheckpoint(session, snapshot.deltaLog, snapshotFor(plan), handle.table.catalogTable)
    }
  }

  /** Delta takes part size and format from the session: a copy of it keeps the user's settings as they are. */
  private def sessionFor(plan: CheckpointPlan): ClassicSession = {
    val session = handle.session.asInstanceOf[ClassicSession].cloneSession()
    val conf = session.sessionState.conf
    plan.partSize match {
      case Some(size) => conf.setConf(DeltaSQLConf.DELTA_CHECKPOINT_PART_SIZE, Some(size))
      case None => conf.unsetConf(DeltaSQLConf.DELTA_CHECKPOINT_PART_SIZE)
    }
    val format = CheckpointWriter.deltaFormat(plan.format)
    conf.setConfString(DeltaSQLConf.CHECKPOINT_V2_TOP_LEVEL_FILE_FORMAT.key, format.name)
    session
  }

  /** Delta takes the policy from the table's metadata; another one needs a view of the snapshot that has it. */
  private def snapshotFor(plan: CheckpointPlan): Snapshot = {
    val policy = plan.policy match {
      case Policy.Classic => CheckpointPolicy.Classic
      case Policy.V2 => CheckpointPolicy.V2
    }
    if (DeltaConfigs.CHECKPOINT_POLICY.fromMetaData(snapshot.metadata) == policy) snapshot
    else new SnapshotWithPolicy(snapshot, policy)
  }
}

private[upkeep] object CheckpointWriter {

  def deltaFormat(format: TopLevelFormat): V2Checkpoint.Format = format match {
    case TopLevelFormat.Json => V2Checkpoint.Format.JSON
    case TopLevelFormat.Parquet => V2Checkpoint.Format.PARQUET
  }
}

/**
 * The same version of the table, seen with another checkpoint policy. What goes into the checkpoint is the
 * table's real metadata. It has no checksum to be validated against: that one names the real policy.
 */
private final class SnapshotWithPolicy(original: Snapshot, policy: CheckpointPolicy.Policy)
    extends Snapshot(original.path, original.version, original.logSegment, original.deltaLog, None) {

  override def metadata: Metadata = {
    val real = original.metadata
    real.copy(configuration = real.configuration + (DeltaConfigs.CHECKPOINT_POLICY.key -> policy.name))
  }

  override protected def extractComputedState(state: DataFrame): SnapshotState =
    super.extractComputedState(state).copy(metadata = metadata)

  override private[delta] lazy val nonFileActions: Seq[Action] = original.nonFileActions
}
