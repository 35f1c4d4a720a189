package org.apache.spark.sql.delta.upkeep.table

import java.nio.file.AccessDeniedException
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import io.deltaupkeep.{TableFacts, UpkeepConf, UpkeepErrors, UpkeepException}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.{CheckpointPolicy, DeltaConfigs, Snapshot, V2CheckpointTableFeature}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.skipping.clustering.{ClusteredTableUtils, ClusteringColumnInfo}
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.types.StructType

/** A Delta table at one version. The rest of the code uses Delta through it. */
final class DeltaHandle private (
    private[upkeep] val session: ClassicSession,
    private[upkeep] val table: DeltaTableV2,
    private[upkeep] val snapshot: Snapshot
) extends Logging {

  val name: String = DeltaHandle.nameOf(table)

  def path: String = snapshot.deltaLog.dataPath.toString

  def logPath: Path = snapshot.deltaLog.logPath

  def schema: StructType = snapshot.metadata.schema

  /** Milliseconds since the epoch by the clock that Delta has for this table. */
  def now: Long = snapshot.deltaLog.clock.getTimeMillis()

  private val hadoopConfs = new ConcurrentHashMap[SparkSession, Configuration]

  /**
   * Hadoop settings of the active session, with those that the table was opened with. They are shared: whoever changes
   * one copies them first.
   */
  def hadoopConf: Configuration =
    hadoopConfs.computeIfAbsent(SparkSession.active, _ => snapshot.deltaLog.newDeltaHadoopConf())

  lazy val facts: TableFacts = {
    val metadata = snapshot.metadata
    val clustered = ClusteredTableUtils.isSupported(snapshot.protocol)
    TableFacts(
      name = name,
      path = path,
      version = snapshot.version,
      columns = metadata.schema.fieldNames.toSeq,
      partitionColumns = metadata.partitionColumns,
      clusteringColumns = if (clustered) ClusteringColumnInfo.extractLogicalNames(snapshot) else Nil,
      isClustered = clustered,
      catalogManaged = TableFeatures.isCatalogManaged(snapshot),
      supportsV2Checkpoints = snapshot.protocol.isFeatureSupported(V2CheckpointTableFeature),
      prefersV2Checkpoints = DeltaConfigs.CHECKPOINT_POLICY.fromMetaData(metadata) == CheckpointPolicy.V2,
      checkpointLimits = CheckpointProperties.limits(session, snapshot),
      logRetentionMs = DeltaConfigs.getMilliSeconds(DeltaConfigs.LOG_RETENTION.fromMetaData(metadata)),
      deletedFileRetentionMs =
        DeltaConfigs.getMilliSeconds(DeltaConfigs.TOMBSTONE_RETENTION.fromMetaData(metadata)),
      logCleanupEnabled = DeltaConfigs.ENABLE_EXPIRED_LOG_CLEANUP.fromMetaData(metadata),
      inCommitTimestamps = DeltaConfigs.IN_COMMIT_TIMESTAMPS_ENABLED.fromMetaData(metadata),
      vacuum = metadata.configuration.get("deltaUpkeep.vacuum"),
      vacuumFullEvery = metadata.configuration.get("deltaUpkeep.vacuum.fullEvery"),
      sortOrder = metadata.configuration.get("deltaUpkeep.sortOrder"),
      vacuumKeepFor = metadata.configuration.get("deltaUpkeep.vacuum.keepFor"),
      isSwitchedOn = Switch.isOn(snapshot),
      checkpointProtectionVersion = TableFeatures.checkpointProtection(snapshot)
    )
  }

  /** Whether a retention below the table's own is an error, as for VACUUM. */
  def retentionCheckEnabled: Boolean =
    session.sessionState.conf.getConf(DeltaSQLConf.DELTA_VACUUM_RETENTION_CHECK_ENABLED)

  /** Whether VACUUM takes no notice of a retention other than 0, as Delta since 4.1. */
  def ignoresRetention: Boolean = DeltaApi.current.ignoresRetention(session)

  /**
   * Asks the file system for permission before the work, so that a denial costs nothing and leaves nothing
   * behind. Not every file system can answer: then the writes will tell. Object stores are not asked: for them Hadoop
   * answers with permissions that it makes up.
   */
  def requireWritableLog(statement: String): Unit = if (showsPartialWrites) {
    try logPath.getFileSystem(hadoopConf).access(logPath, FsAction.WRITE)
    catch {
      case e @ (_: AccessControlException | _: AccessDeniedException) =>
        throw UpkeepErrors.logNotWritable(statement, name, logPath.toString, e)
      case NonFatal(e) => logInfo(s"Cannot tell whether $logPath is writable: $e")
    }
  }

  /** How many files of the log are deleted in parallel. */
  def cleanupThreads: Int = session.sessionState.conf.getConf(UpkeepConf.CleanupThreads)

  /** The same table at another version. */
  private[upkeep] def at(version: Snapshot): DeltaHandle =
    DeltaHandle.of(session, version, table.catalogTable)

  /** The same table at its current newest version. */
  private[upkeep] def newest: DeltaHandle = new DeltaHandle(session, table, DeltaApi.current.newest(table))

  /** Why the table's switch or features forbid what a statement is going to do, or None. */
  def refusal(statement: String, intent: Intent): Option[UpkeepException] =
    Switch.refusal(statement, name, snapshot, intent)
      .orElse(TableFeatures.refusal(statement, name, snapshot, intent))

  /**
   * This table.
   *
   * @throws io.deltaupkeep.UpkeepException if its features forbid what a statement is going to do
   */
  private[upkeep] def allowing(statement: String, intent: Intent): DeltaHandle = {
    refusal(statement, intent).foreach(throw _)
    this
  }

  /**
   * This table at its newest version.
   *
   * @throws io.deltaupkeep.UpkeepException if its features forbid what a statement is going to do
   */
  def updated(statement: String, intent: Intent): DeltaHandle = newest.allowing(statement, intent)

  /**
   * Whether others can see an incomplete file of the log. If so, it is written under another name and
   * renamed.
   */
  private[upkeep] def showsPartialWrites: Boolean =
    snapshot.deltaLog.store.isPartialWriteVisible(logPath, hadoopConf)
}

object DeltaHandle {

  /**
   * The table behind a resolved plan, at its newest version.
   *
   * @throws io.deltaupkeep.UpkeepException if the plan is not a Delta table, or its features forbid the
   *                                        intent
   */
  def open(session: SparkSession, statement: String, plan: LogicalPlan, intent: Intent): DeltaHandle = {
    val table = Plans
      .tableIn(plan)
      .getOrElse(throw DeltaRefusals.notADeltaTable(statement, plan.simpleString(maxFields = 10)))
    val name = nameOf(table)
    val snapshot = DeltaTarget.withKnownFeatures(statement, name) {
      if (table.initialSnapshot.version < 0) throw DeltaRefusals.notADeltaTable(statement, name)
      snapshotOf(session, table)
    }
    handle(session, table, snapshot).allowing(statement, intent)
  }

  /**
   * The newest snapshot of a table that was opened for the running statement, so it is listed again only if Delta may
   * have skipped the listing.
   */
  private[table] def snapshotOf(session: SparkSession, table: DeltaTableV2): Snapshot = {
    val staleMs = session.sessionState.conf.getConf(DeltaSQLConf.DELTA_ASYNC_UPDATE_STALENESS_TIME_LIMIT)
    if (staleMs > 0) DeltaApi.current.newest(table) else table.initialSnapshot
  }

  /** A table at a version. Whether its features allow anything is not checked. */
  private[upkeep] def of(
      session: SparkSession,
      snapshot: Snapshot,
      catalogTable: Option[CatalogTable]
  ): DeltaHandle = {
    val log = snapshot.deltaLog
    val table = DeltaTableV2(session, log.dataPath, catalogTable, options = log.options)
    handle(session, table, snapshot)
  }

  private def handle(session: SparkSession, table: DeltaTableV2, snapshot: Snapshot): DeltaHandle =
    new DeltaHandle(session.asInstanceOf[ClassicSession], table, snapshot)

  private[table] def nameOf(table: DeltaTableV2): String = table.catalogTable match {
    case Some(catalogTable) => DeltaTarget.quoted(catalogTable.identifier.nameParts)
    case None => DeltaTarget.quoted(Seq("delta", table.path.toString))
  }
}
