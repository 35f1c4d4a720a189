package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.{CommittedTransaction, DeltaLog, OptimisticTransaction, Snapshot}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.hooks.{AutoCompact, AutoCompactRequest, AutoCompactUtils, PostCommitHook}
import org.apache.spark.sql.delta.sources.DeltaSQLConf

/** Since 4.1 hooks get a [[CommittedTransaction]], and reads of the log may name a catalog table. */
private[upkeep] abstract class DeltaSince41 extends DeltaSince33 {
  import DeltaSince41._

  override def hidingCheckpoints(begun: OptimisticTransaction): OptimisticTransaction with CheckpointsHidden =
    new UpkeepTransaction(begun)

  override def hook(ours: CommitHook): PostCommitHook = Hook(ours)

  override def mayAutoCompact(session: SparkSession, commit: Commit): Boolean =
    AutoCompact.getAutoCompactType(session.sessionState.conf, commit.snapshot.metadata).nonEmpty &&
      AutoCompactUtils.isQualifiedForAutoCompact(session, ofDelta(commit))

  override def autoCompactRequest(session: SparkSession, commit: Commit): AutoCompactRequest =
    AutoCompactUtils.prepareAutoCompactRequest(
      session,
      ofDelta(commit),
      AutoCompact.OP_TYPE,
      maxDeletedRowsRatio = None
    )

  override def autoCompact(session: SparkSession, commit: Commit): Unit =
    AutoCompact.run(session, ofDelta(commit))

  override def ignoresRetention(session: SparkSession): Boolean =
    session.sessionState.conf.getConf(DeltaSQLConf.DELTA_VACUUM_RETENTION_WINDOW_IGNORE_ENABLED)

  override def snapshotOf(commit: Snapshot, version: Long, catalogTable: Option[CatalogTable]): Snapshot =
    commit.deltaLog.getSnapshotAt(
      version,
      lastCheckpointHint = None,
      lastCheckpointProvider = Some(commit.checkpointProvider),
      catalogTableOpt = catalogTable,
      enforceTimeTravelWithinDeletedFileRetention = false
    )

  override def changes(
      log: DeltaLog,
      from: Long,
      catalogTable: Option[CatalogTable]
  ): Iterator[(Long, Seq[Action])] = log.getChanges(from, catalogTable, failOnDataLoss = true)
}

private object DeltaSince41 {

  private final class UpkeepTransaction(begun: OptimisticTransaction)
      extends OptimisticTransaction(begun.deltaLog, begun.catalogTable, begun.snapshot)
      with CheckpointsHidden {
    override protected def isCheckpointNeeded(version: Long, after: Snapshot): Boolean = false
  }

  private final case class Hook(ours: CommitHook) extends PostCommitHook {
    override val name: String = ours.name

    override def run(session: SparkSession, committed: CommittedTransaction): Unit =
      ours.run(
        session,
        Commit(
          committed.deltaLog,
          committed.catalogTable,
          committed.committedVersion,
          committed.postCommitSnapshot,
          committed
        )
      )
  }

  private def ofDelta(commit: Commit): CommittedTransaction =
    commit.ofDelta.asInstanceOf[CommittedTransaction]
}
