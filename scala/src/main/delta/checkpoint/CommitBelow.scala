package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.FileNotFoundException

import scala.util.Try

import io.deltaupkeep.{UpkeepErrors, UpkeepException}

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.delta.util.FileNames.DeltaFile

/**
 * The commit of the checkpoint's version. If the log no longer has it, the table was dropped, and perhaps
 * recreated at the same path, while the checkpoint was being written.
 */
private[upkeep] final class CommitBelow(handle: DeltaHandle) {
  import CommitBelow._

  private val snapshot = handle.snapshot
  private val logPath = handle.logPath
  private lazy val fs = logPath.getFileSystem(handle.hadoopConf)

  /** As it was read. None if a checkpoint of the same version has taken its place. */
  private val read: Option[FileStatus] = snapshot.logSegment.deltas.collectFirst {
    case DeltaFile(file, version) if version == snapshot.version => file
  }

  /** Whether the catalog may not have copied the commit into the log yet. */
  private val isStaged = read.exists(_.getPath.getParent.getName != logPath.getName)

  private def now: Option[FileStatus] =
    statusOf(FileNames.unsafeDeltaFile(logPath, snapshot.version))

  /** A file of the log, or None. */
  def statusOf(path: Path): Option[FileStatus] =
    try Some(fs.getFileStatus(path))
    catch { case _: FileNotFoundException => None }

  def isThere: Boolean = read match {
    case Some(file) if isStaged => hasLog && now.forall(_.getLen == file.getLen) && !isCreatedAnew
    case Some(file) =>
      now.exists(found => mayBeSame(found, file) && (isOneTime(found, file) || !isCreatedAnew))
    case None => hasLog && !isCreatedAnew
  }

  /**
   * Whether the log begins no earlier than the version that was read, and never had this table. The times alone
   * do not prove it: the log may be a copy. Nor does another id: REPLACE TABLE changes it too.
   */
  private def isCreatedAnew: Boolean =
    statusOf(FileNames.unsafeDeltaFile(logPath, 0)).exists { first =>
      val secondsRead = snapshot.logSegment.lastCommitFileModificationTimestamp / 1000
      first.getModificationTime / 1000 >= secondsRead && !hasTableId
    }

  private def hasTableId: Boolean =
    DeltaApi.current.changes(snapshot.deltaLog, 0, handle.table.catalogTable).exists { case (_, actions) =>
      actions.exists { case metadata: Metadata => metadata.id == snapshot.metadata.id; case _ => false }
    }

  private def hasLog: Boolean = statusOf(logPath).nonEmpty

  /** @throws io.deltaupkeep.UpkeepException `TABLE_REPLACED` */
  def require(): Unit = if (!isThere) throw gone

  def gone: UpkeepException = UpkeepErrors.tableReplaced(handle.name, snapshot.version)

  /** Deletes the empty directories of a dropped table that a file of the checkpoint recreated. */
  def deleteEmptyLog(): Unit =
    if (Try(!isThere).getOrElse(false))
      Seq(FileNames.sidecarDirPath(logPath), logPath, logPath.getParent).foreach { directory =>
        // Another writer may use it by now.
        Try(if (fs.listStatus(directory).isEmpty) fs.delete(directory, false))
      }
}

private object CommitBelow {

  /** Some stores return the time in whole seconds in one response and in milliseconds in another. */
  private def mayBeSame(one: FileStatus, other: FileStatus): Boolean = {
    val times = Seq(one, other).map(_.getModificationTime)
    one.getLen == other.getLen &&
    (times.distinct.size == 1 || (times.exists(isWhole) && times.map(_ / 1000).distinct.size == 1))
  }

  /** Whether both have the same millisecond. A second is long enough to recreate a table. */
  private def isOneTime(one: FileStatus, other: FileStatus): Boolean =
    one.getModificationTime == other.getModificationTime && !isWhole(one.getModificationTime)

  private def isWhole(time: Long): Boolean = time % 1000 == 0
}
