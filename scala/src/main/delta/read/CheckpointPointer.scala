package org.apache.spark.sql.delta.upkeep.read

import java.io.FileNotFoundException

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.LastCheckpointInfo
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}

/**
 * Why readers find no checkpoint by `_last_checkpoint`.
 *
 * @param named the version that it names, if it can be read
 */
private[upkeep] final case class PointerFlaw(what: String, isMissing: Boolean, named: Option[Long])

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
  def info: Option[LastCheckpointInfo] =
    try text.headOption.flatMap(infoIn)
    catch { case NonFatal(e) if InputFailures.damageOfLog(e).isDefined => None }

  private def text: Seq[String] = deltaLog.store.read(deltaLog.LAST_CHECKPOINT, conf)

  private def infoIn(json: String): Option[LastCheckpointInfo] =
    Try(Option(LastCheckpointInfo.deserializeFromJson(json, validate = hasChecksum))).toOption.flatten

  /** Why readers find no checkpoint by it, or None. Throws if the store fails to return it. */
  def flaw: Option[PointerFlaw] = {
    def damaged(why: String, named: Option[Long] = None) =
      Some(PointerFlaw(why, isMissing = false, named))
    try text.headOption.flatMap(infoIn).map(_.version) match {
        case Some(named) if isCheckpointed(named) => None
        case Some(named) =>
          damaged(s"names the checkpoint of version $named, which does not exist", Some(named))
        case None => damaged("cannot be parsed")
      }
    catch {
      case _: FileNotFoundException => Some(PointerFlaw("does not exist", isMissing = true, None))
      case NonFatal(e) if InputFailures.damageOfLog(e).isDefined => damaged("cannot be read")
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
