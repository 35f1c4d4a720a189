package org.apache.spark.sql.delta.upkeep

import java.util.UUID

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/** Files in the log that are of no use once a checkpoint is written; CLEANUP LOG knows them by their names. */
private[upkeep] final class TemporaryFiles(handle: DeltaHandle) {

  private val prefix = s".${handle.snapshot.version}.checkpoint.${UUID.randomUUID}"

  private lazy val fs = handle.logPath.getFileSystem(handle.hadoopConf)

  private val known = mutable.ArrayBuffer.empty[Path]

  /** Names for the tasks of a job: each adds what tells its attempt from others, and [[TemporaryFiles.End]]. */
  def stem: String = new Path(handle.logPath, prefix).toString

  def newPath(): Path = {
    val path = new Path(s"$stem-${UUID.randomUUID}${TemporaryFiles.End}")
    known += path
    path
  }

  /** Says that a task has written a file. */
  def add(path: Path): Unit = known += path

  def delete(): Unit = known.foreach(fs.delete(_, false))

  /** For after a failure: lists the log, which takes long where it has many files. */
  def deleteAll(): Unit =
    fs.listStatus(handle.logPath, (path: Path) => path.getName.startsWith(prefix)).foreach { file =>
      fs.delete(file.getPath, false)
    }
}

private[upkeep] object TemporaryFiles {
  val End: String = ".tmp"
}
