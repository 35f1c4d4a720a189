package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.UpkeepErrors

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.{LogSegment, Snapshot, VersionChecksum}
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, ListedLog, WholeCheckpoint, Wholeness}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames.{CheckpointFile, DeltaFile}

/**
 * The readable log of a version: Delta itself opens the files of a checkpoint only when it has to.
 *
 * @param pages whether the pages of checkpoints are read too, to find out whether they are whole
 */
private[upkeep] final class ReadableLog(handle: DeltaHandle, pages: Boolean = false) {
  import Wholeness._

  private val deltaLog = handle.snapshot.deltaLog
  private val conf = handle.hadoopConf

  private val whole = new WholeCheckpoint(handle)
  private lazy val last = {
    val checkpoint = handle.snapshot.checkpointProvider
    if (checkpoint.isEmpty) Whole else whole.check(checkpoint.version, checkpoint, pages)
  }

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
  lazy val snapshot: Snapshot =
    best(last, Some(handle.snapshot), before(handle.snapshot.checkpointProvider.version, onlyWhole = false))
      .getOrElse {
        throw UpkeepErrors.checkpointDamaged(
          handle.name,
          handle.snapshot.checkpointProvider.version,
          flaw.getOrElse("")
        )
      }

  /** The same version, read from a checkpoint that is whole, or from the commits alone, and without its checksum. */
  def trusted: Option[Snapshot] = before(handle.snapshot.version + 1, onlyWhole = true, checksum = None)

  /** A version, read from an older checkpoint that is whole, or from the commits alone, and without its checksum. */
  def without(version: Long): Option[Snapshot] = before(version, onlyWhole = true, version, checksum = None)

  /** Whether the checkpoint that some files of the log make is whole. The last one is looked at once. */
  def wholeness(version: Long, files: Seq[FileStatus]): Wholeness = {
    def namesOf(files: Seq[FileStatus]) = files.map(_.getPath.getName).toSet
    if (namesOf(files) == namesOf(handle.snapshot.checkpointProvider.topLevelFiles)) last
    else whole.checkFiles(version, files, pages)
  }

  /** What is read from a checkpoint, or from older files. */
  private def best(
      checkpoint: Wholeness,
      fromIt: => Option[Snapshot],
      fromOlder: => Option[Snapshot],
      onlyWhole: Boolean = false
  ): Option[Snapshot] = checkpoint match {
    case Whole => fromIt
    case Damaged(_, isReadable) if onlyWhole || !isReadable => fromOlder
    case Unproved(_) if onlyWhole => fromOlder
    // Delta reads it, so without anything better we do too.
    case Damaged(_, _) | Unproved(_) => fromOlder.orElse(fromIt)
  }

  /** A version, read from a checkpoint older than the given one, if all commits since then exist. */
  private def before(
      checkpoint: Long,
      onlyWhole: Boolean,
      version: Long = handle.snapshot.version,
      checksum: Option[VersionChecksum] = handle.snapshot.checksumOpt
  ): Option[Snapshot] = {
    val older = if (checkpoint > 0) deltaLog.findLastCompleteCheckpointBefore(checkpoint) else None
    val first = older.fold(0L)(_.version)
    val files = ListedLog.between(deltaLog.store, handle.logPath, conf, first, version).toSeq
    // Commits that a coordinator has not published to the log yet are only in the log segment.
    val commits = (files ++ handle.snapshot.logSegment.deltas).collect {
      case DeltaFile(file, number) if number > older.fold(-1L)(_.version) => number -> file
    }.filter(_._1 <= version).distinctBy(_._1)
    // A snapshot is not made before its checkpoint was checked, because it may read the protocol from it.
    def snapshot = {
      val provider = older.map { instance =>
        instance.getCheckpointProvider(deltaLog, files.collect { case CheckpointFile(file, _) => file })
      }
      // The checkpoint may be of the very version.
      val time = commits.lastOption.fold(handle.snapshot.logSegment.lastCommitFileModificationTimestamp)(
        _._2.getModificationTime
      )
      val segment = LogSegment(handle.logPath, version, commits.map(_._2), provider, time)
      new Snapshot(handle.logPath, version, segment, deltaLog, checksum)
    }
    val areAll = commits.map(_._1) == (older.fold(0L)(_.version + 1) to version)
    older match {
      case _ if !areAll => None
      case None => Some(snapshot)
      case Some(instance) =>
        val found = wholeness(instance.version, CheckpointFiles.topLevel(instance, files))
        best(found, Some(snapshot), before(instance.version, onlyWhole, version, checksum), onlyWhole)
    }
  }
}
