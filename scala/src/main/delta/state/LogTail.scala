package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.{Action, Metadata, Protocol}
import org.apache.spark.sql.delta.upkeep.read.{DriverBytes, NonFileActions}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.unsafe.types.UTF8String

/**
 * The net changes of the commits since a checkpoint, in memory. Commits of more than `spark.deltaUpkeep.driverBytes`
 * need a full checkpoint.
 *
 * @param names         whether the commits name a file, by its key
 * @param paths         of all files that they name
 * @param fileActions   adds, and tombstones that have not expired
 * @param nonFileActions of the whole table
 */
private[upkeep] final class LogTail private (
    val names: UTF8String => Boolean,
    val paths: Set[String],
    val fileActions: Seq[KeyedAction],
    val nonFileActions: Seq[Action]
)

private[upkeep] object LogTail {

  /**
   * Replays the commits of a snapshot that its checkpoint does not hold.
   *
   * @param before non-file actions of the checkpoint
   * @return the tail, or why a checkpoint cannot build on the last one
   */
  def read(handle: DeltaHandle, before: Seq[Action]): Either[String, LogTail] = {
    val commits = handle.snapshot.logSegment.deltas
    DriverBytes.excess(
      handle.session,
      "the commits since the last checkpoint take",
      commits.map(_.getLen).sum
    )
      .toLeft(()).flatMap { _ =>
        val replay =
          new DriverReplay(handle, handle.session, handle.snapshot)
        of(handle.snapshot, replay, before)
      }
  }

  private def of(snapshot: Snapshot, replay: DriverReplay, before: Seq[Action]): Either[String, LogTail] = {
    val (ofFiles, others) = replay.all { () =>
      val read = NonFileActions.reader(CommitParser.Schema)
      action => Some(if (action.file.isEmpty) Right(read(action.row)) else Left(action))
    }.partitionMap(identity)
    others.collectFirst(obstacle(before)).orElse(ofFiles.flatMap(obstacleOfPath(_)).headOption).toLeft {
      new LogTail(
        replay.names,
        ofFiles.flatMap(_.file).map(_.toString).toSet,
        ofFiles.filterNot(replay.isExpired),
        NonFileActions.newest(others ++ before, snapshot)
      )
    }
  }

  private def obstacle(before: Seq[Action]): PartialFunction[Action, String] = {
    // RESTORE repeats metadata that has not changed.
    case metadata: Metadata if !before.contains(metadata) =>
      "the table's metadata changed since the last checkpoint"
    case protocol: Protocol if !before.contains(protocol) =>
      "the table's protocol changed since the last checkpoint"
  }

  private def obstacleOfPath(action: KeyedAction): Option[String] = {
    val path = KeyedAction.Files.path(action.row)
    if (path.startsWith(Slash) || path.contains(Colon)) Some("commits name files by absolute paths")
    else if (action.file.exists(_ != path)) Some("commits spell paths differently from Delta")
    else None
  }

  private val Slash = UTF8String.fromString("/")
  private val Colon = UTF8String.fromString(":")
}
