package org.apache.spark.sql.delta.upkeep.checkpoint

import scala.util.control.NonFatal

import io.deltaupkeep.log.LogFile
import io.deltaupkeep.plan.checkpoint.DamagedCheckpoint

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.{CheckpointInstance, LastCheckpointInfo}
import org.apache.spark.sql.delta.upkeep.read.{DeltaLogReader, WholeCheckpoint, Wholeness}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** Checkpoints of the table's version that readers cannot use, although all their files exist. */
private[checkpoint] final class DamagedCheckpoints(handle: DeltaHandle, pages: Boolean) extends Logging {

  private val fs = handle.logPath.getFileSystem(handle.hadoopConf)

  private val whole = new WholeCheckpoint(handle)

  /**
   * Whether the checkpoint of these files is whole. Reads its footers, and the top-level file of a v2 one, and its
   * pages if asked to.
   */
  def check(files: Seq[LogFile]): Wholeness = checkFiles(files.map(DeltaLogReader.statusOf(handle, _)))

  private def checkFiles(files: Seq[FileStatus]): Wholeness =
    whole.checkFiles(handle.snapshot.version, files, pages)

  /**
   * Deletes a damaged checkpoint once there is a new one, unless that or another driver's has its name. Its
   * sidecars are left to CLEANUP LOG, because other checkpoints may name them. A failure leaves it in place.
   */
  def delete(checkpoint: DamagedCheckpoint, written: LastCheckpointInfo): Unit = {
    val files = checkpoint.files.map(new Path(handle.logPath, _))
    try
      if (CheckpointInstance(files.head) != CheckpointInstance(written))
        checkFiles(files.map(fs.getFileStatus)) match {
          case _: Wholeness.Damaged => files.foreach(fs.delete(_, false))
          case _ =>
        }
    catch { case NonFatal(e) => logWarning(s"The damaged checkpoint ${files.head} was not deleted", e) }
  }
}
