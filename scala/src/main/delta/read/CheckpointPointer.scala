package org.apache.spark.sql.delta.upkeep.read

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.LastCheckpointInfo
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}

/**
 * `_last_checkpoint`, which tells readers from which checkpoint to start (protocol, 'Last Checkpoint File').
 */
private[upkeep] final class CheckpointPointer(handle: DeltaHandle) extends Logging {

  private val snapshot = handle.snapshot
  private val deltaLog = snapshot.deltaLog
  private val conf = handle.hadoopConf
  private val hasChecksum = LastCheckpointInfo.checksumEnabled(handle.session)

  /**
   * Its contents; None if it is missing or damaged, which readers treat alike. Throws if the store fails to
   * return it: then it may name any version.
   */
  def info: Option[LastCheckpointInfo] = {
    val lines =
      try deltaLog.store.read(deltaLog.LAST_CHECKPOINT, conf)
      catch { case NonFatal(e) if InputFailures.damageOfLog(e).isDefined => Nil }
    lines.headOption.flatMap { json =>
      Try(LastCheckpointInfo.deserializeFromJson(json, validate = hasChecksum)).toOption
    }
  }

  /** The version that it names. */
  def version: Option[Long] = info.map(_.version)

  /**
   * Names a checkpoint, unless it already names a newer one that exists: a slower driver may write an older
   * version.
   *
   * A failure is logged and is not an error, as in Delta: the checkpoint exists without it, and concurrent
   * drivers can get in each other's way. A pointer that cannot be read is left alone: it may name a newer one.
   */
  def write(info: LastCheckpointInfo): Unit =
    try
      if (!version.exists(named => named > info.version && isCheckpointed(named)))
        deltaLog.writeLastCheckpointFile(deltaLog, info, addChecksum = hasChecksum)
    catch { case NonFatal(e) => logWarning(s"_last_checkpoint of ${handle.name} was not updated", e) }

  private def isCheckpointed(version: Long): Boolean =
    deltaLog.findLastCompleteCheckpointBefore(version + 1).exists(_.version == version)
}
