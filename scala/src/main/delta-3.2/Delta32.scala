package org.apache.spark.sql.delta.upkeep.versions

import io.delta.tables.execution.VacuumTableCommand
import io.deltaupkeep.UpkeepErrors

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{
  DeltaOperations,
  DeltaTableUtils,
  OptimisticTransaction,
  Snapshot,
  TransactionExecutionObserver
}
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.commands.{DeltaOptimizeContext, OptimizeTableCommand}

/** In 3.2 OPTIMIZE is never FULL, and the log does not take a catalog table. */
private[upkeep] object Delta32 extends DeltaUntil40 {

  override def observer(of: TransactionEvents): TransactionExecutionObserver = new Events(of)

  override def threadObserver: TransactionExecutionObserver =
    TransactionExecutionObserver.threadObserver.get()

  override def observeThread(observer: TransactionExecutionObserver): Unit =
    TransactionExecutionObserver.threadObserver.set(observer)

  override def checkpoint(snapshot: Snapshot, catalogTable: Option[CatalogTable]): Unit =
    snapshot.deltaLog.checkpoint(snapshot)

  override def publishCommits(snapshot: Snapshot, catalogTable: Option[CatalogTable]): Unit =
    snapshot.ensureCommitFilesBackfilled()

  override def newest(table: DeltaTableV2): Snapshot = table.deltaLog.update()

  override def isLite(command: VacuumTableCommand): Boolean = false

  override def isHidden(metadata: Metadata, name: String): Boolean =
    DeltaTableUtils.isHiddenDirectory(metadata.partitionColumns, name)

  override def optimizeContext(statement: String, full: Boolean): DeltaOptimizeContext =
    if (full)
      throw UpkeepErrors.unsupportedDelta(
        statement,
        "OPTIMIZE FULL came with Delta 3.3.",
        "Leave out FULL, or use Delta 3.3."
      )
    else DeltaOptimizeContext()

  override def fullOf(context: DeltaOptimizeContext): Option[Boolean] =
    Option.when(context == DeltaOptimizeContext())(false)

  override def optimizeOperation(
      predicate: Seq[Expression],
      zOrderBy: Seq[String],
      auto: Boolean,
      clusterBy: Option[Seq[String]],
      full: Boolean
  ): DeltaOperations.Operation = DeltaOperations.Optimize(predicate, zOrderBy, auto, clusterBy)

  override def fullRefusal: Option[Throwable] = None

  /** 3.2 commits once and calls bins batches. */
  override def batchesOf(bins: Int, commits: Int): Int = bins

  override def checkZOrder(
      command: OptimizeTableCommand,
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[UnresolvedAttribute]
  ): Unit =
    // Created directly, so that no observer sees it.
    command.validateZorderByColumns(
      session,
      new OptimisticTransaction(snapshot.deltaLog, None, snapshot),
      columns
    )

  override def snapshotOf(commit: Snapshot, version: Long, catalogTable: Option[CatalogTable]): Snapshot =
    commit.deltaLog.getSnapshotAt(
      version,
      lastCheckpointHint = None,
      lastCheckpointProvider = Some(commit.checkpointProvider)
    )

  private final class Events(override protected[upkeep] val events: TransactionEvents)
      extends TransactionObserved
}
