package org.apache.spark.sql.delta.upkeep.hook

import scala.util.control.NonFatal

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.plan.checkpoint.{CheckpointDue, SinceCheckpoint}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.read.UncheckpointedCommits
import org.apache.spark.sql.delta.upkeep.table.{
  CheckpointProperties,
  DeltaHandle,
  Intent,
  Switch,
  TableFeatures
}
import org.apache.spark.sql.delta.upkeep.versions.{Commit, CommitHook, DeltaApi}

/**
 * Writes the checkpoint that a commit makes due: in the background, or before the commit returns. Once an
 * application begins to end it cannot start a Spark job, so a checkpoint that needs one is not queued.
 */
private[upkeep] case object UpkeepCheckpoint extends CommitHook with Logging {

  override val name: String = "Delta Upkeep checkpoint"

  override def run(session: SparkSession, commit: Commit): Unit =
    // The commit itself may have given the table a feature that we do not know.
    if (!isOurs(session, commit.snapshot, commit.catalogTable)) {
      if (isDueByDelta(commit)) DeltaApi.current.checkpoint(commit)
    } else {
      val worker = CheckpointWorker.of(session)
      val since = sinceCheckpoint(commit, worker)
      dueReason(session, commit, since, worker).foreach { reason =>
        val pending = PendingCheckpoint.of(session, commit, reason, since.commits)
        val isSync = session.sessionState.conf.getConf(UpkeepConf.CheckpointMode) == "sync"
        if (isSync || isUrgent(session, pending, worker)) runNow(session, worker, pending)
        else worker.submit(pending)
      }
    }

  /** Delta's rule. A checkpoint of adaptive metadata is not made of files. */
  private def isDueByDelta(commit: Commit): Boolean =
    commit.version != 0 && commit.version % commit.deltaLog.checkpointInterval(
      commit.snapshot.metadata
    ) == 0 &&
      !commit.snapshot.protocol.readerAndWriterFeatureNames.exists(TableFeatures.isAdaptiveMetadata)

  /** Whether the application may end before it is written. After a failure it waits for its turn. */
  private def isUrgent(session: SparkSession, pending: PendingCheckpoint, worker: CheckpointWorker): Boolean =
    !worker.isPaused(pending.key) && (pending.needsJob || isUnfinished(session, pending, worker))

  /**
   * Whether an earlier application made a checkpoint due and ended without writing it. This one may be as
   * short-lived.
   */
  private def isUnfinished(
      session: SparkSession,
      pending: PendingCheckpoint,
      worker: CheckpointWorker
  ): Boolean =
    worker.lastVersion(pending.key).isEmpty && worker.lastOutcome(pending.key).isEmpty &&
      UncheckpointedCommits.before(pending.snapshot.logSegment, session.sparkContext.startTime) >=
      CheckpointProperties.limits(session, pending.snapshot).commits

  /** As in Delta, a failure fails the hook only if the session asks for that. */
  private def runNow(session: SparkSession, worker: CheckpointWorker, pending: PendingCheckpoint): Unit =
    try worker.run(pending)
    catch {
      case NonFatal(e) =>
        if (session.sessionState.conf.getConf(DeltaSQLConf.DELTA_CHECKPOINT_THROW_EXCEPTION_WHEN_FAILED))
          throw e
    }

  /** Whether the table's switch and features let us write its checkpoints. */
  def isOurs(session: SparkSession, snapshot: Snapshot, catalogTable: Option[CatalogTable]): Boolean =
    Switch.isOn(snapshot) && mayWrite(session, snapshot, catalogTable)

  private def mayWrite(
      session: SparkSession,
      snapshot: Snapshot,
      catalogTable: Option[CatalogTable]
  ): Boolean = {
    val refused = DeltaHandle.of(session, snapshot, catalogTable).refusal("CHECKPOINT", Intent.Checkpoint)
    refused.foreach(why => logInfo(s"Checkpoints are left to Delta: ${why.getMessage}"))
    refused.isEmpty
  }

  private def sinceCheckpoint(commit: Commit, worker: CheckpointWorker): SinceCheckpoint =
    UncheckpointedCommits.checkpoint(
      commit.snapshot.logSegment,
      commit.version,
      worker.lastVersion(TableKey.of(commit.snapshot)),
      commit.snapshot.deltaLog.clock.getTimeMillis()
    )

  private def dueReason(
      session: SparkSession,
      commit: Commit,
      since: SinceCheckpoint,
      worker: CheckpointWorker
  ): Option[String] =
    CheckpointDue
      .reason(CheckpointProperties.limits(session, commit.snapshot), since)
      .orElse(Option.when(worker.owes(TableKey.of(commit.snapshot)))("the last one failed"))
}
