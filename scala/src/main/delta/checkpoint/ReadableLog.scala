package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.UpkeepErrors

import org.apache.spark.sql.delta.{CheckpointProvider, LogSegment, Snapshot}
import org.apache.spark.sql.delta.upkeep.read.{ListedLog, WholeCheckpoint, Wholeness}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames.{CheckpointFile, DeltaFile}

/** The readable log of a version: Delta itself opens the files of a checkpoint only when it has to. */
private[upkeep] final class ReadableLog(handle: DeltaHandle) {
  import Wholeness._

  private val deltaLog = handle.snapshot.deltaLog
  private val conf = handle.hadoopConf

  private val whole = new WholeCheckpoint(handle)
  private lazy val last = check(handle.snapshot.checkpointProvider)

  /**
   * Why nothing can be built on the last checkpoint, for example because a file is missing or is not a Parquet
   * file.
   */
  lazy val flaw: Option[String] = {
    val name = s"the checkpoint of version ${handle.snapshot.checkpointProvider.version}"
    last match {
      case Whole => None
      case Damaged(why, _) => Some(s"$name is damaged: $why")
      case Unproved(why) => Some(s"$name cannot be shown to be whole: $why")
    }
  }

  /**
   * The same version, read from the newest complete checkpoint, or from the commits alone.
   *
   * @throws io.deltaupkeep.UpkeepException `CHECKPOINT_DAMAGED`: the commits before a damaged one are gone
   */
  lazy val snapshot: Snapshot = readable(handle.snapshot, last).getOrElse {
    throw UpkeepErrors.checkpointDamaged(
      handle.name,
      handle.snapshot.checkpointProvider.version,
      flaw.getOrElse("")
    )
  }

  private def readable(from: Snapshot, wholeness: Wholeness): Option[Snapshot] = {
    def older = before(from.checkpointProvider.version)
      .flatMap(older => readable(older, check(older.checkpointProvider)))
    wholeness match {
      case Whole => Some(from)
      case Damaged(_, false) => older
      // Delta reads it, so without anything better we do too.
      case Damaged(_, true) | Unproved(_) => older.orElse(Some(from))
    }
  }

  private def check(checkpoint: CheckpointProvider): Wholeness =
    if (checkpoint.isEmpty) Whole else whole.check(checkpoint.version, checkpoint)

  /** This version, read from a checkpoint older than the given one, if all commits since then exist. */
  private def before(checkpoint: Long): Option[Snapshot] = {
    val version = handle.snapshot.version
    val older = if (checkpoint > 0) deltaLog.findLastCompleteCheckpointBefore(checkpoint) else None
    val first = older.fold(0L)(_.version)
    val files = ListedLog.between(deltaLog.store, handle.logPath, conf, first, version).toSeq
    // Commits that a coordinator has not published to the log yet are only in the log segment.
    val commits = (files ++ handle.snapshot.logSegment.deltas).collect {
      case DeltaFile(file, number) if number > older.fold(-1L)(_.version) => number -> file
    }.filter(_._1 <= version).distinctBy(_._1)
    val provider = older.map { instance =>
      instance.getCheckpointProvider(deltaLog, files.collect { case CheckpointFile(file, _) => file })
    }
    Option.when(commits.map(_._1) == (older.fold(0L)(_.version + 1) to version)) {
      val segment = LogSegment(
        handle.logPath,
        version,
        commits.map(_._2),
        provider,
        handle.snapshot.logSegment.lastCommitFileModificationTimestamp
      )
      new Snapshot(handle.logPath, version, segment, deltaLog, handle.snapshot.checksumOpt)
    }
  }
}
