package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.{
  CheckpointProvider,
  DeltaLog,
  LazyCompleteCheckpointProvider,
  OptimisticTransaction,
  Snapshot
}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.hooks.{AutoCompact, AutoCompactRequest, AutoCompactUtils, PostCommitHook}
import org.apache.spark.sql.delta.stats.StatsCollector
import org.apache.spark.sql.functions.{col, lit}

/** Until 4.0 hooks get the transaction, and statistics of checkpoints are read from JSON alone. */
private[upkeep] abstract class DeltaUntil40 extends DeltaApi {
  import DeltaUntil40._

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
      commit.snapshot,
      ofDelta(commit).partitionsAddedToOpt.map(_.toSet),
      AutoCompact.OP_TYPE,
      maxDeletedRowsRatio = None
    )

  override def autoCompact(session: SparkSession, commit: Commit): Unit =
    AutoCompact.run(session, ofDelta(commit), commit.version, commit.snapshot, ToHooks.noActions)

  override def complete(checkpoint: CheckpointProvider): CheckpointProvider = checkpoint match {
    case unread: LazyCompleteCheckpointProvider => complete(unread.underlyingCheckpointProvider)
    case complete => complete
  }

  override def checkpointActions(session: SparkSession, snapshot: Snapshot): Option[DataFrame] =
    snapshot.checkpointProvider
      .allActionsFileIndexes()
      .map(snapshot.deltaLog.loadIndex(_, Action.logSchema))
      .reduceOption(_ union _)
      .map {
        _.withColumn("version", lit(snapshot.checkpointProvider.version))
          .withColumn(Snapshot.ADD_STATS_TO_USE_COL_NAME, col("add.stats"))
      }

  override def changes(
      log: DeltaLog,
      from: Long,
      catalogTable: Option[CatalogTable]
  ): Iterator[(Long, Seq[Action])] = log.getChanges(from, failOnDataLoss = true)

  override def statsCollector(snapshot: Snapshot, rebaseMode: String, longest: Int): StatsCollector =
    StatsCollector(
      snapshot.columnMappingMode,
      snapshot.dataSchema,
      snapshot.statsSchema,
      rebaseMode,
      stringTruncateLength = Some(longest)
    )
}

private object DeltaUntil40 {

  private def ofDelta(commit: Commit): ToHooks.Transaction = commit.ofDelta.asInstanceOf[ToHooks.Transaction]

  private final class UpkeepTransaction(begun: OptimisticTransaction)
      extends OptimisticTransaction(begun.deltaLog, begun.catalogTable, begun.snapshot)
      with CheckpointsHidden {
    override protected def setNeedsCheckpoint(version: Long, after: Snapshot): Unit = ()
  }

  private final case class Hook(ours: CommitHook) extends PostCommitHook {
    override val name: String = ours.name

    override def run(
        session: SparkSession,
        transaction: ToHooks.Transaction,
        version: Long,
        after: Snapshot,
        actions: ToHooks.Actions
    ): Unit =
      ours.run(session, Commit(transaction.deltaLog, transaction.catalogTable, version, after, transaction))
  }
}
