package org.apache.spark.sql.delta.upkeep.state

import io.deltaupkeep.{ByteText, UpkeepConf}

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.{Action, AddFile, FileAction, Metadata, Protocol, RemoveFile}
import org.apache.spark.sql.delta.upkeep.read.{DeltaLogReader, FileKey}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * The net changes of the commits since a checkpoint. Takes about 1 KB of memory for each changed file with
 * statistics. Commits of more than `spark.deltaUpkeep.checkpoint.driverBytes` need a full checkpoint.
 *
 * @param touched        every file that they name
 * @param fileActions    adds, and tombstones that have not expired
 * @param nonFileActions of the whole table
 */
private[upkeep] final case class LogTail(
    touched: Set[FileKey],
    fileActions: Seq[FileAction],
    nonFileActions: Seq[Action]
)

private[upkeep] object LogTail {

  /**
   * Replays the commits of a snapshot that its checkpoint does not hold.
   *
   * @param before non-file actions of the checkpoint
   * @return the tail, or why a checkpoint cannot build on the last one
   */
  def read(handle: DeltaHandle, before: Seq[Action]): Either[String, LogTail] =
    tooLarge(handle).toLeft(()).flatMap { _ =>
      val reader = new DeltaLogReader(handle)
      val replay = new TailReplay(handle.snapshot, before)
      // Later commits are not read once there is an obstacle.
      val obstacles = handle.snapshot.logSegment.deltas.iterator.flatMap { commit =>
        replay.add(reader.commit(commit.getPath))
      }
      obstacles.nextOption().toLeft(replay.result())
    }

  private def tooLarge(handle: DeltaHandle): Option[String] = {
    val bytes = handle.snapshot.logSegment.deltas.map(_.getLen).sum
    val most = handle.session.sessionState.conf.getConf(UpkeepConf.CheckpointDriverBytes)
    Option.when(bytes > most) {
      s"the commits since the last checkpoint take more than ${ByteText.of(most)}"
    }
  }
}

/** Replays the commits after a checkpoint one by one, with the reconciliation rules of Delta. */
private final class TailReplay(snapshot: Snapshot, before: Seq[Action]) {

  private val replay = DeltaApi.current.replay(snapshot)
  private val touched = Set.newBuilder[FileKey]
  private val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
  private var commits = 0L

  replay.append(0, before.iterator)

  /** Replays the next commit, or returns why no checkpoint can build on the last one. */
  def add(commit: Seq[Action]): Option[String] = {
    val obstacle = commit.collectFirst(obstacleOf)
    if (obstacle.isEmpty) {
      touched ++= commit.collect(fileOf)
      commits += 1
      replay.append(commits, commit.iterator)
    }
    obstacle
  }

  def result(): LogTail = {
    val (files, others) = replay.checkpoint.toSeq.partitionMap {
      case file: FileAction => Left(file)
      case other => Right(other)
    }
    LogTail(touched.result(), files, others)
  }

  private val obstacleOf: PartialFunction[Action, String] = {
    // RESTORE repeats metadata that has not changed.
    case metadata: Metadata if !before.contains(metadata) =>
      "the table's metadata changed since the last checkpoint"
    case protocol: Protocol if !before.contains(protocol) =>
      "the table's protocol changed since the last checkpoint"
    case action: FileAction if isAbsolute(action.path) => "commits name files by absolute paths"
    case action: FileAction if FileKey.respelled(action.path, canonical) != action.path =>
      "commits spell paths in another way than Delta"
  }

  private def isAbsolute(path: String): Boolean = path.startsWith("/") || path.contains(":")

  private val fileOf: PartialFunction[Action, FileKey] = {
    case add: AddFile => FileKey(add.path, add.getDeletionVectorUniqueId)
    case remove: RemoveFile => FileKey(remove.path, remove.getDeletionVectorUniqueId)
  }
}
