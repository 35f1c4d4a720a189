package org.apache.spark.sql.delta.upkeep.read

import scala.util.control.NonFatal

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.CheckpointInstance
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}
import org.apache.spark.sql.delta.util.FileNames.DeltaFile

/** What the log says about a version, apart from the checkpoints of that version. */
private[upkeep] final class LogBelow(handle: DeltaHandle) extends Logging {

  private val deltaLog = handle.snapshot.deltaLog
  private val conf = handle.hadoopConf

  /**
   * The applications and domains of a version, among other non-file actions; None if a file needed for that is
   * missing or damaged, or the commits are too large. Reads the commits since the checkpoint before, which are
   * few, and no file statistics.
   */
  def nonFileActions(version: Long): Option[Seq[Action]] =
    try read(version)
    catch {
      case NonFatal(e) if InputFailures.damageOfLog(e).isDefined =>
        logInfo(s"The log of ${handle.name} before version $version cannot be read", e)
        None
    }

  private def read(version: Long): Option[Seq[Action]] = {
    val older = deltaLog.findLastCompleteCheckpointBefore(version)
    val after = older.fold(-1L)(_.version)
    val files = ListedLog
      .between(deltaLog.store, handle.logPath, conf, math.max(0, after), version).toSeq
    val commits = files.collect { case DeltaFile(file, number) if number > after => number -> file }
    Option.when(commits.map(_._1) == (after + 1 to version) && areFew(commits.map(_._2))) {
      val reader = new DeltaLogReader(handle)
      val newer = commits.reverse.flatMap { case (_, file) =>
        reader.transactionsAndDomains(file.getPath).reverse
      }
      NonFileActions.newest(newer ++ older.toSeq.flatMap(othersOf(_, files, reader)), handle.snapshot)
    }
  }

  private def areFew(commits: Seq[FileStatus]): Boolean =
    DriverBytes.excess(handle.session, "the commits take", commits.map(_.getLen).sum).isEmpty

  private def othersOf(
      checkpoint: CheckpointInstance,
      files: Seq[FileStatus],
      reader: DeltaLogReader
  ): Seq[Action] = {
    val (inJson, inParquet) = CheckpointFiles.topLevel(checkpoint, files).partition(CheckpointFiles.isJson)
    inJson.flatMap(file => reader.transactionsAndDomains(file.getPath)) ++
      NonFileActions.in(inParquet, handle.session, conf)
  }
}
