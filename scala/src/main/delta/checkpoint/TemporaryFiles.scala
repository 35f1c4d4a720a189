package org.apache.spark.sql.delta.upkeep.checkpoint

import java.util.UUID

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{Path, PathFilter}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Files in the log that are useless after a checkpoint is written. CLEANUP LOG recognizes them by their
 * names.
 */
private[upkeep] final class TemporaryFiles(handle: DeltaHandle) extends Logging {

  private val prefix = s".${handle.snapshot.version}.checkpoint.${UUID.randomUUID}"

  private lazy val fs = handle.logPath.getFileSystem(handle.hadoopConf)

  private val known = mutable.ArrayBuffer.empty[Path]

  /**
   * Stem of the names that the tasks of a job use. Each task appends an id of its attempt and
   * [[TemporaryFiles.End]].
   */
  def stem: String = new Path(handle.logPath, prefix).toString

  def newPath(): Path = {
    val path = new Path(s"$stem-${UUID.randomUUID}${TemporaryFiles.End}")
    add(path)
    path
  }

  /** Records that a task has written a file. */
  def add(path: Path): Unit = synchronized(known += path)

  def delete(): Unit = leaveAtWorst(known.foreach(fs.delete(_, false)))

  /** Used after a failure. It lists the log, which takes long if there are many files. */
  def deleteAll(): Unit = leaveAtWorst {
    val ours: PathFilter = _.getName.startsWith(prefix)
    fs.listStatus(handle.logPath, ours).foreach(file => fs.delete(file.getPath, false))
  }

  private def leaveAtWorst(delete: => Unit): Unit =
    try delete
    catch { case NonFatal(e) => logWarning(s"Temporary files $stem* are left to CLEANUP LOG", e) }
}

private[upkeep] object TemporaryFiles {
  val End: String = ".tmp"
}
