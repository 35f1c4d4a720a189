package org.apache.spark.sql.delta.upkeep.log

import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import io.deltaupkeep.UpkeepErrors

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.{CheckpointProvider, LogSegment, Snapshot}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.delta.util.FileNames.{CheckpointFile, DeltaFile}

/** The readable log of a version: Delta looks at the files of a checkpoint only when it has to. */
private[upkeep] final class ReadableLog(handle: DeltaHandle) extends Logging {

  private val deltaLog = handle.snapshot.deltaLog
  private val conf = handle.hadoopConf

  /**
   * Why the last checkpoint cannot be used, for example because a file is missing or is not a Parquet file.
   */
  lazy val damage: Option[String] = damageOf(handle.snapshot.checkpointProvider)

  /**
   * The same version, read from the newest complete checkpoint, or from the commits alone.
   *
   * @throws io.deltaupkeep.UpkeepException `CHECKPOINT_DAMAGED`: the commits before a damaged one are gone
   */
  lazy val snapshot: Snapshot = without(handle.snapshot, damage)

  private def without(last: Snapshot, damage: Option[String]): Snapshot = damage match {
    case None => last
    case Some(why) =>
      val older = before(last.checkpointProvider.version).getOrElse {
        throw UpkeepErrors.checkpointDamaged(handle.name, last.checkpointProvider.version, why)
      }
      without(older, damageOf(older.checkpointProvider))
  }

  private def damageOf(checkpoint: CheckpointProvider): Option[String] =
    if (checkpoint.isEmpty) None
    else
      (Try(LastCheckpoint.of(handle, checkpoint).flatMap(_.damage)) match {
        case Success(damage) => damage
        case Failure(NonFatal(e)) =>
          logWarning(s"The checkpoint of version ${checkpoint.version} of ${handle.name} cannot be read", e)
          Some(e.getMessage)
        case Failure(fatal) => throw fatal
      }).map(why => s"the checkpoint of version ${checkpoint.version} is damaged: $why")

  /** The version read from a checkpoint that is older than the given one, if all commits since exist. */
  private def before(checkpoint: Long): Option[Snapshot] = {
    val version = handle.snapshot.version
    val older = if (checkpoint > 0) deltaLog.findLastCompleteCheckpointBefore(checkpoint) else None
    val first = older.fold(0L)(_.version)
    val files = deltaLog.store
      .listFrom(FileNames.listingPrefix(handle.logPath, first), conf)
      .takeWhile(file => FileNames.getFileVersionOpt(file.getPath).forall(_ <= version))
      .toSeq
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
