package org.apache.spark.sql.delta.upkeep.hook

import scala.util.control.NonFatal

import io.deltaupkeep.{UpkeepConf, UpkeepException}
import io.deltaupkeep.checkpoint.{CheckpointTriggers, SinceCheckpoint}

import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.{CommittedTransaction, LogSegment, MaintenanceOperation, Snapshot}
import org.apache.spark.sql.delta.hooks.{CheckpointHook, PostCommitHook}
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames

/**
 * The checkpoint that a commit of an [[UpkeepTransaction]] makes due, by our writer: behind the commit's back, or
 * before it returns.
 */
private[upkeep] case object UpkeepCheckpoint extends PostCommitHook with Logging {

  override val name: String = "Delta Upkeep checkpoint"

  override def run(session: SparkSession, committed: CommittedTransaction): Unit = {
    val worker = CheckpointWorker.of(session)
    dueReason(session, committed, worker).foreach { reason =>
      val pending = PendingCheckpoint.of(session, committed, reason)
      // The commit itself may have given the table a feature that we do not know.
      if (!isOurs(session, committed.postCommitSnapshot, committed.catalogTable)) {
        val due = MaintenanceOperation(shouldCheckpoint = isDueByDelta(committed))
        CheckpointHook.run(session, committed.copy(maintenanceOperation = due))
      } else if (session.sessionState.conf.getConf(UpkeepConf.CheckpointMode) == "sync")
        runNow(session, worker, pending)
      else worker.submit(pending)
    }
  }

  /** Delta's rule. */
  private def isDueByDelta(committed: CommittedTransaction): Boolean = {
    val version = committed.committedVersion
    version != 0 && version % intervalOf(committed) == 0
  }

  private def intervalOf(committed: CommittedTransaction): Int =
    committed.deltaLog.checkpointInterval(committed.postCommitSnapshot.metadata)

  override def handleError(session: SparkSession, error: Throwable, version: Long): Unit =
    CheckpointHook.handleError(session, error, version)

  /** As Delta's: a failure fails the hook only where the session asks for that. */
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
    val path = committed.deltaLog.logPath.toString
    val segment = committed.postCommitSnapshot.logSegment
    // Of a checkpoint that is written or waits to be, the segment may not know yet.
    val submitted = worker.lastVersion(path)
    val commits = segment.deltas.filter(file => submitted.forall(FileNames.getFileVersion(file.getPath) > _))
    val age = if (submitted.nonEmpty && commits.isEmpty) 0L else ageOf(segment)
    triggers(session, committed.postCommitSnapshot).reason(
      SinceCheckpoint(commits.map(_.getLen).sum, age),
      byDelta = isDueByDelta(committed),
      owed = worker.owes(path) || commits.size > intervalOf(committed)
    )
  }

  /** Milliseconds since its checkpoint, or its first commit where there is none. */
  private def ageOf(segment: LogSegment): Long = {
    val written = segment.checkpointProvider.topLevelFiles.map(_.getModificationTime).maxOption
    val start = written.orElse(segment.deltas.headOption.map(_.getModificationTime))
    System.currentTimeMillis() - start.getOrElse(0L)
  }

  /** The table's properties come before the session's settings. */
  private def triggers(session: SparkSession, snapshot: Snapshot): CheckpointTriggers = {
    def setting(entry: ConfigEntry[Long]): Long = {
      val property = snapshot.metadata.configuration.get(entry.key.stripPrefix("spark."))
      property.fold(session.sessionState.conf.getConf(entry)) { text =>
        try entry.valueConverter(text)
        catch {
          case e: IllegalArgumentException =>
            logWarning(s"The property ${entry.key.stripPrefix("spark.")} of ${snapshot.path} is not used", e)
            session.sessionState.conf.getConf(entry)
        }
      }
    }
    CheckpointTriggers(setting(UpkeepConf.CheckpointCommitBytes), setting(UpkeepConf.CheckpointMaxAge))
  }
}
