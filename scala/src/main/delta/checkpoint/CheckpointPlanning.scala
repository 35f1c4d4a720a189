package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.log.{LogFile, LogFileKind, ReplayPlace}
import io.deltaupkeep.plan.checkpoint._

import org.apache.spark.sql.delta.upkeep.read.{DeltaLogReader, DriverBytes, ListedLog, Wholeness}
import org.apache.spark.sql.delta.util.FileNames

/** Plans a checkpoint. Writes nothing. */
private[checkpoint] final class CheckpointPlanning(inputs: CheckpointInputs) {
  import inputs.{damaged, handle, log, pointer}

  private val snapshot = handle.snapshot

  /** What would be written for a request. */
  def plan(request: CheckpointRequest): CheckpointPlan = {
    val layout = CheckpointPlanner.layout(handle.facts, request)
    val found = foundCheckpoints
    CheckpointPlanner.existing(layout, found) match {
      case Some(existing) => CheckpointPlanner.notNeeded(layout, existing, pointer.version)
      case None =>
        val from = CheckpointPlanner.whyFull(layout, found).toLeft(layout.policy).flatMap(base)
        CheckpointPlanner.toWrite(layout, found, from.left.map(FullFacts(_, fileActions, replay)))
    }
  }

  /**
   * Approximate number of adds and tombstones of this version: the file count of its checksum, or more if the
   * size of the log implies tombstones. Nothing is replayed.
   */
  private def fileActions: Long = {
    val readable = log.snapshot
    def byBytes(ofCommit: Long, ofCheckpoint: Long): Long =
      readable.deltaFileSizeInBytes() / ofCommit + readable.checkpointSizeInBytes() / ofCheckpoint
    snapshot.checksumOpt match {
      case Some(checksum) => math.max(checksum.numFiles, byBytes(ofCommit = 2048, ofCheckpoint = 256))
      case None => byBytes(ofCommit = 512, ofCheckpoint = 64)
    }
  }

  /**
   * The checkpoints of this version. Lists the log from that version on, and reads the footers of the
   * checkpoints.
   */
  private def foundCheckpoints: FoundCheckpoints = {
    val version = snapshot.version
    val files = ListedLog
      .between(snapshot.deltaLog.store, handle.logPath, handle.hadoopConf, version, version)
      .filter(FileNames.isCheckpointFile)
      .map(DeltaLogReader.fileOf)
      .toSeq
    val found = CheckpointPlanner.complete(files, snapshot.version).map(set => set -> damaged.check(set))
    val whole = found.collect { case (set, Wholeness.Whole) => set }
    FoundCheckpoints(
      whole,
      found.collect {
        case (set, Wholeness.Damaged(why, _)) => DamagedCheckpoint(set.map(_.name), why)
        // Otherwise the new checkpoint, which has the same name, would be discarded as a slower driver's.
        case (set, Wholeness.Unproved(why)) if whole.isEmpty && set.exists(isClassic) =>
          DamagedCheckpoint(set.map(_.name), why)
      }
    )
  }

  private def isClassic(file: LogFile): Boolean = file.kind match {
    case _: LogFileKind.V2Checkpoint => false
    case _ => true
  }

  private def base(policy: Policy): Either[String, Base] =
    inputs.baseOf(policy).map(last => Base(last.fragments, last.tail.fileActions.size.toLong))

  /** How a full checkpoint would get the state. */
  private def replay: ReplayPlace = {
    val bytes = log.snapshot.logSegment.deltas.map(_.getLen).sum
    if (!log.snapshot.checkpointProvider.isEmpty) ReplayPlace.AsJob("it reads the last checkpoint")
    else if (inputs.schema.hasVariantStatistics)
      ReplayPlace.AsJob("variant statistics are read by a query")
    else
      DriverBytes.excess(handle.session, "the commits take", bytes, passes = true)
        .fold[ReplayPlace](ReplayPlace.OnDriver)(ReplayPlace.AsJob(_))
  }
}
