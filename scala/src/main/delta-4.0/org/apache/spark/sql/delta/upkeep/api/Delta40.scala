package org.apache.spark.sql.delta.upkeep.api

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.{
  CheckpointProvider,
  DeltaLog,
  DeltaTransaction,
  LazyCompleteCheckpointProvider,
  OptimisticTransaction,
  Snapshot
}
import org.apache.spark.sql.delta.actions.{Action, AddFile, InMemoryLogReplay}
import org.apache.spark.sql.delta.hooks.{AutoCompact, AutoCompactRequest, AutoCompactUtils, PostCommitHook}
import org.apache.spark.sql.delta.stats.StatsCollectionUtils
import org.apache.spark.sql.functions.{col, lit}

/** In 4.0 hooks get the transaction, and statistics of checkpoints are read from JSON alone. */
private[api] object Delta40 extends DeltaApi {

  override def hidingCheckpoints(begun: OptimisticTransaction): OptimisticTransaction with CheckpointsHidden =
    new UpkeepTransaction(begun)

  override def hook(ours: CommitHook): PostCommitHook = Hook(ours)

  override def mayAutoCompact(session: SparkSession, commit: Commit): Boolean =
    AutoCompact.getAutoCompactType(session.sessionState.conf, commit.snapshot.metadata).nonEmpty &&
      AutoCompactUtils.isQualifiedForAutoCompact(session, theirs(commit))

  override def autoCompactRequest(session: SparkSession, commit: Commit): AutoCompactRequest =
    AutoCompactUtils.prepareAutoCompactRequest(
      session,
      theirs(commit),
      commit.snapshot,
      theirs(commit).partitionsAddedToOpt.map(_.toSet),
      AutoCompact.OP_TYPE,
      maxDeletedRowsRatio = None
    )

  override def autoCompact(session: SparkSession, commit: Commit): Unit =
    AutoCompact.run(session, theirs(commit), commit.version, commit.snapshot, Iterator.empty)

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

  override def snapshotOf(commit: Snapshot, version: Long, catalogTable: Option[CatalogTable]): Snapshot =
    commit.deltaLog.getSnapshotAt(
      version,
      lastCheckpointHint = None,
      lastCheckpointProvider = Some(commit.checkpointProvider),
      catalogTableOpt = catalogTable
    )

  override def changes(
      log: DeltaLog,
      from: Long,
      catalogTable: Option[CatalogTable]
  ): Iterator[(Long, Seq[Action])] = log.getChanges(from, failOnDataLoss = true)

  override def replay(snapshot: Snapshot): InMemoryLogReplay =
    new InMemoryLogReplay(snapshot.minFileRetentionTimestamp, snapshot.minSetTransactionRetentionTimestamp)

  override def withStatistics(
      conf: Configuration,
      snapshot: Snapshot,
      files: Dataset[AddFile]
  ): Dataset[AddFile] =
    StatsCollectionUtils.computeStats(
      files.sparkSession,
      conf,
      snapshot.deltaLog,
      snapshot,
      files,
      numFilesOpt = Some(1L),
      ignoreMissingStats = true,
      setBoundsToWide = false
    )

  override def newFile(
      path: String,
      partitionValues: Map[String, String],
      size: Long,
      modificationTime: Long,
      tags: Map[String, String]
  ): AddFile = AddFile(path, partitionValues, size, modificationTime, dataChange = false, tags = tags)

  override def changed(add: AddFile)(
      path: String,
      dataChange: Boolean,
      stats: String,
      baseRowId: Option[Long],
      rowCommitVersion: Option[Long]
  ): AddFile = add.copy(
    path = path,
    dataChange = dataChange,
    stats = stats,
    baseRowId = baseRowId,
    defaultRowCommitVersion = rowCommitVersion
  )

  private def theirs(commit: Commit): DeltaTransaction = commit.theirs.asInstanceOf[DeltaTransaction]

  private final class UpkeepTransaction(begun: OptimisticTransaction)
      extends OptimisticTransaction(begun.deltaLog, begun.catalogTable, begun.snapshot)
      with CheckpointsHidden {
    override protected def setNeedsCheckpoint(version: Long, after: Snapshot): Unit = ()
  }

  private final case class Hook(ours: CommitHook) extends PostCommitHook {
    override val name: String = ours.name

    override def run(
        session: SparkSession,
        transaction: DeltaTransaction,
        version: Long,
        after: Snapshot,
        actions: Iterator[Action]
    ): Unit =
      ours.run(session, Commit(transaction.deltaLog, transaction.catalogTable, version, after, transaction))
  }
}
