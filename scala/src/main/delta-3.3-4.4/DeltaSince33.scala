package org.apache.spark.sql.delta.upkeep.versions

import io.delta.tables.execution.VacuumTableCommand

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{
  DeltaErrors,
  DeltaOperations,
  DeltaTableUtils,
  Snapshot,
  TransactionExecutionObserver,
  UniversalFormat
}
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.commands.{DeltaOptimizeContext, OptimizeTableCommand}
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf

/** Since 3.3 OPTIMIZE can be FULL, observers have children, and more of Delta takes a catalog table. */
private[upkeep] trait DeltaSince33 extends DeltaApi {

  override def observer(of: TransactionEvents): TransactionExecutionObserver = new EventsSince33(of)

  override def threadObserver: TransactionExecutionObserver = TransactionExecutionObserver.getObserver

  override def observeThread(observer: TransactionExecutionObserver): Unit =
    TransactionExecutionObserver.setObserver(observer)

  override def checkpoint(snapshot: Snapshot, catalogTable: Option[CatalogTable]): Unit =
    snapshot.deltaLog.checkpoint(snapshot, catalogTable)

  override def publishCommits(snapshot: Snapshot, catalogTable: Option[CatalogTable]): Unit =
    snapshot.ensureCommitFilesBackfilled(catalogTable)

  override def newest(table: DeltaTableV2): Snapshot = table.update()

  override def isLite(command: VacuumTableCommand): Boolean =
    command.vacuumType.fold(SQLConf.get.getConf(DeltaSQLConf.LITE_VACUUM_ENABLED))(_ == "LITE")

  override def isHidden(metadata: Metadata, name: String): Boolean =
    DeltaTableUtils.isHiddenDirectory(
      metadata.partitionColumns,
      name,
      shouldIcebergMetadataDirBeHidden = UniversalFormat.icebergEnabled(metadata)
    )

  override def optimizeContext(statement: String, full: Boolean): DeltaOptimizeContext =
    DeltaOptimizeContext(isFull = full)

  override def fullOf(context: DeltaOptimizeContext): Option[Boolean] = context match {
    case DeltaOptimizeContext(None, None, None, None, full) => Some(full)
    case _ => None
  }

  override def fullRefusal: Option[Throwable] = Some(DeltaErrors.optimizeFullNotSupportedException())

  override def optimizeOperation(
      predicate: Seq[Expression],
      zOrderBy: Seq[String],
      auto: Boolean,
      clusterBy: Option[Seq[String]],
      full: Boolean
  ): DeltaOperations.Operation = DeltaOperations.Optimize(predicate, zOrderBy, auto, clusterBy, full)

  override def checkZOrder(
      command: OptimizeTableCommand,
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[UnresolvedAttribute]
  ): Unit = command.validateZorderByColumns(session, snapshot, columns)
}

private final class EventsSince33(override protected[upkeep] val events: TransactionEvents)
    extends TransactionObserved {
  override def createChild(): TransactionExecutionObserver = events.next.createChild()
  override def beginBackfill(): Unit = events.next.beginBackfill()
  override def beginPostCommit(): Unit = events.next.beginPostCommit()
}
