package org.apache.spark.sql.delta.upkeep.log

import scala.util.control.NonFatal

import io.deltaupkeep.checkpoint.DamagedCheckpoint
import io.deltaupkeep.log.LogFile

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** Checkpoints of the table's version that readers cannot use, although all their files exist. */
private[upkeep] final class DamagedCheckpoints(handle: DeltaHandle) extends Logging {

  private val fs = handle.logPath.getFileSystem(handle.hadoopConf)

  /**
   * Why readers cannot use the checkpoint of these files, or None. Reads its footers, and the top-level file
   * of a v2 one.
   */
  def why(files: Seq[LogFile]): Option[String] = damageOf(files.map(DeltaLogReader.statusOf(handle, _)))

  private def damageOf(files: => Seq[FileStatus]): Option[String] =
    try {
      LastCheckpoint.of(handle, LastCheckpoint.providerOf(handle, files))
        .flatMap(checkpoint => checkpoint.damage.orElse(checkpoint.mismatch))
    } catch {
      case NonFatal(e) =>
        logWarning(s"A checkpoint of version ${handle.snapshot.version} of ${handle.name} cannot be read", e)
        Some(e.getMessage)
    }

  /**
   * Deletes a damaged checkpoint, unless another driver has replaced it meanwhile. Its sidecars are left to
   * CLEANUP LOG, because other checkpoints may name them.
   */
  def delete(checkpoint: DamagedCheckpoint): Unit = {
    val files = checkpoint.files.map(new Path(handle.logPath, _))
    if (damageOf(files.map(fs.getFileStatus)).nonEmpty) files.foreach(fs.delete(_, false))
  }
}
