package org.apache.spark.sql.delta.upkeep.hook

import scala.util.control.NonFatal

import io.deltaupkeep.{UpkeepConf, UpkeepException}
import io.deltaupkeep.checkpoint.CheckpointDue

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.{CommittedTransaction, MaintenanceOperation, Snapshot}
import org.apache.spark.sql.delta.hooks.{CheckpointHook, PostCommitHook}
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.log.CommitsSince
import org.apache.spark.sql.delta.upkeep.table.{CheckpointProperties, DeltaHandle}

/**
 * Writes the checkpoint that a commit of an [[UpkeepTransaction]] makes due: in the background, or before the
 * commit returns.
 */
private[upkeep] case object UpkeepCheckpoint extends PostCommitHook with Logging {

  override val name: String = "Delta Upkeep checkpoint"

  override def run(session: SparkSession, committed: CommittedTransaction): Unit =
    // The commit itself may have given the table a feature that we do not know.
    if (!isOurs(session, committed.postCommitSnapshot, committed.catalogTable)) {
      val due = MaintenanceOperation(shouldCheckpoint = isDueByDelta(committed))
      CheckpointHook.run(session, committed.copy(maintenanceOperation = due))
    } else {
      val worker = CheckpointWorker.of(session)
      dueReason(session, committed, worker).foreach { reason =>
        val pending = PendingCheckpoint.of(session, committed, reason)
        if (session.sessionState.conf.getConf(UpkeepConf.CheckpointMode) == "sync")
          runNow(session, worker, pending)
        else worker.submit(pending)
      }
    }

  /** Delta's rule. */
  private def isDueByDelta(committed: CommittedTransaction): Boolean = {
    val version = committed.committedVersion
    version != 0 &&
    version % committed.deltaLog.checkpointInterval(committed.postCommitSnapshot.metadata) == 0
  }

  override def handleError(session: SparkSession, error: Throwable, version: Long): Unit =
    CheckpointHook.handleError(session, error, version)

  /** As in Delta, a failure fails the hook only if the session asks for that. */
  private def runNow(session: SparkSession, worker: CheckpointWorker, pending: PendingCheckpoint): Unit =
    try worker.run(pending)
    catch {
      case NonFatal(e) =>
        if (session.sessionState.conf.getConf(DeltaSQLConf.DELTA_CHECKPOINT_THROW_EXCEPTION_WHEN_FAILED))
          throw e
    }

  /** Whether the table's features let us write its checkpoints. */
  def isOurs(session: SparkSession, snapshot: Snapshot, catalogTable: Option[CatalogTable]): Boolean =
    try {
      DeltaHandle.of(session, snapshot, catalogTable)
      true
    } catch {
      case refused: UpkeepException =>
        logInfo(s"Checkpoints are left to Delta: ${refused.getMessage}")
        false
    }

  private def dueReason(
      session: SparkSession,
      committed: CommittedTransaction,
      worker: CheckpointWorker
  ): Option[String] = {
    val table = committed.deltaLog.logPath.toString
    val snapshot = committed.postCommitSnapshot
    val since = CommitsSince.checkpoint(
      snapshot.logSegment,
      committed.committedVersion,
      worker.lastVersion(table),
      System.currentTimeMillis()
    )
    CheckpointDue
      .reason(CheckpointProperties.limits(session, snapshot), since)
      .orElse(Option.when(worker.owes(table))("the last one failed"))
  }
}
