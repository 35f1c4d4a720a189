package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.File
import java.util.UUID

import scala.collection.mutable
import scala.util.control.NonFatal

import io.deltaupkeep.plan.checkpoint.Build

import org.apache.hadoop.fs.{Path, PathFilter}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.util.Utils

/**
 * Files that are useless after a checkpoint is written.
 *
 * @param directory the log, where CLEANUP LOG recognizes them by their names, or one of the driver's disk
 */
private[upkeep] final class TemporaryFiles private (handle: DeltaHandle, directory: Path) extends Logging {

  private val prefix = s".${handle.snapshot.version}.checkpoint.${UUID.randomUUID}"

  private lazy val fs = directory.getFileSystem(handle.hadoopConf)

  private val known = mutable.ArrayBuffer.empty[Path]

  /**
   * Stem of the names that the tasks of a job use. Each task appends an id of its attempt and
   * [[TemporaryFiles.End]].
   */
  def stem: String = new Path(directory, prefix).toString

  def newPath(): Path = {
    val path = new Path(s"$stem-${UUID.randomUUID}${TemporaryFiles.End}")
    add(path)
    path
  }

  /** Records that a task has written a file. */
  def add(path: Path): Unit = synchronized(known += path)

  def delete(): Unit = leaveAtWorst(known.foreach(fs.delete(_, false)))

  /** Used after a failure. It lists the directory, which takes long if it is a log of many files. */
  def deleteAll(): Unit = leaveAtWorst {
    val ours: PathFilter = _.getName.startsWith(prefix)
    fs.listStatus(directory, ours).foreach(file => fs.delete(file.getPath, false))
  }

  private def leaveAtWorst(delete: => Unit): Unit =
    try delete
    catch { case NonFatal(e) => logWarning(s"Temporary files $stem* are left to CLEANUP LOG", e) }
}

private[upkeep] object TemporaryFiles {
  val End: String = ".tmp"

  /**
   * For a checkpoint that is built in some way. What the driver writes is on its disk if no rename will publish it: then
   * the log gets each file once.
   */
  def of(handle: DeltaHandle, build: Build): TemporaryFiles =
    if (handle.showsPartialWrites || build.isJob) new TemporaryFiles(handle, handle.logPath)
    else new TemporaryFiles(handle, localDirectory(handle))

  private def localDirectory(handle: DeltaHandle): Path =
    new Path(new File(Utils.getLocalDir(handle.session.sparkContext.getConf)).toURI)
}
