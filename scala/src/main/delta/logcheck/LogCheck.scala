package org.apache.spark.sql.delta.upkeep.logcheck

import java.io.IOException

import io.deltaupkeep.plan.checkpoint.CheckpointRequest
import io.deltaupkeep.plan.repair.{FileKind, FsckAction, FsckSettings}

import org.apache.spark.sql.delta.upkeep.checkpoint.{ReadableLog, TableCheckpoint}
import org.apache.spark.sql.delta.upkeep.read.{CheckpointPointer, PointerFlaw}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Finds files of the log that are damaged: the checkpoint that the newest version is read from and newer ones,
 * `_last_checkpoint`, and the checksum of the newest version. A deep check takes all checkpoints.
 *
 * @param pages whether the pages of checkpoints are read too
 */
private[upkeep] final class LogCheck(table: DeltaHandle, settings: FsckSettings, pages: Boolean) {
  import LogProblems._

  private val log = new ReadableLog(table, pages)
  private val texts = new LogProblems(table.logPath, settings.mode)

  /**
   * The same version, read from files that are whole.
   *
   * @throws io.deltaupkeep.UpkeepException `CHECKPOINT_DAMAGED`
   */
  lazy val readable: DeltaHandle =
    if (log.snapshot eq table.snapshot) table
    else table.at(log.snapshot)

  /**
   * In the order in which they are to be repaired.
   *
   * @param counts the number and the size of the files of the newest version
   */
  def problems(counts: (Long, Long)): Seq[LogProblem] = {
    val checkpoints = new CheckpointCheck(table, settings, pages, log)
    val ofChecksum =
      if (checkpoints.problems.exists(_.version.contains(table.snapshot.version))) None
      else new ChecksumCheck(table, settings).ofNewest(log.trusted, counts)
    // Then a commit may have lost a line, and nothing is written from commits.
    val doubt = ofChecksum.filter(_.repair.isEmpty).map(_.finding.advice)
    val found = doubt.fold(checkpoints.problems)(why => checkpoints.problems.map(_.without(why)))
    found ++ ofChecksum ++ ofPointer(checkpoints.usable(found), checkpoints.unseen)
  }

  /**
   * @param usable the versions of checkpoints that it may name
   * @param older  the version of another one, if there is none of these
   */
  private def ofPointer(usable: Set[Long], older: => Option[Long]): Option[LogProblem] =
    try {
      val flaw = new CheckpointPointer(table).flaw.filterNot(_.named.exists(usable))
      flaw.flatMap(ofPointer(_, usable.maxOption.orElse(older)))
    } catch {
      case e: IOException =>
        Some(pointer(Unknown, s"the store did not return _last_checkpoint: $e", Left(AskAgain)))
    }

  /** @param newest the version that it should name */
  private def ofPointer(flaw: PointerFlaw, newest: Option[Long]): Option[LogProblem] = {
    val name = if (flaw.isMissing) Missing else Damaged
    val found = s"_last_checkpoint ${flaw.what}"
    newest match {
      case Some(version) =>
        def point() = {
          TableCheckpoint(table, CheckpointRequest.Default).point(version)
          new CheckpointPointer(table).flaw.map(_ => NotWritten)
        }
        Some(pointer(name, found, Right(() => point())))
      case None if flaw.isMissing => None
      case None => Some(pointer(name, found, Right(() => delete()), FsckAction.Remove))
    }
  }

  private def pointer(
      name: String,
      found: String,
      repair: Either[String, () => Option[String]],
      action: FsckAction = FsckAction.Rewrite
  ): LogProblem =
    texts.problem(None, FileKind.Pointer, "_last_checkpoint", name, found, repair, action)

  private def delete(): Option[String] = {
    val path = table.snapshot.deltaLog.LAST_CHECKPOINT
    if (new CheckpointPointer(table).flaw.forall(_.isMissing)) Some(Overtaken)
    else if (path.getFileSystem(table.hadoopConf).delete(path, false)) None
    else Some(NotWritten)
  }
}
