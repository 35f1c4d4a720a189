package org.apache.spark.sql.delta.upkeep.versions

import io.delta.VERSION
import io.delta.tables.execution.VacuumTableCommand
import io.deltaupkeep.{PlatformCheck, UpkeepErrors}

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{
  CheckpointProvider,
  DeltaLog,
  DeltaOperations,
  OptimisticTransaction,
  Snapshot,
  TransactionExecutionObserver
}
import org.apache.spark.sql.delta.actions.{Action, Metadata}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.commands.{DeltaOptimizeContext, OptimizeTableCommand}
import org.apache.spark.sql.delta.hooks.{AutoCompactRequest, PostCommitHook}
import org.apache.spark.sql.delta.stats.StatsCollector

/**
 * Where versions of Delta differ. Each implementation is compiled against the oldest version that it is for, and
 * is chosen by what is on the class path, because platforms patch Delta without changing its version.
 */
private[upkeep] trait DeltaApi {

  /**
   * The transaction as one with [[CheckpointsHidden]]. Delta would load the whole state of the table for the
   * commit's statistics if it knew that a checkpoint is due, before any hook runs.
   */
  def hidingCheckpoints(begun: OptimisticTransaction): OptimisticTransaction with CheckpointsHidden

  /** A hook of ours as Delta registers it. Hooks are equal if ours are. */
  def hook(ours: CommitHook): PostCommitHook

  /** Has Delta write the checkpoint of a commit. */
  final def checkpoint(commit: Commit): Unit =
    checkpoint(snapshotOf(commit.snapshot, commit.version, commit.catalogTable), commit.catalogTable)

  protected def checkpoint(snapshot: Snapshot, catalogTable: Option[CatalogTable]): Unit

  /** An observer that reports events. */
  def observer(of: TransactionEvents): TransactionExecutionObserver

  /** The observer of this thread's transactions. */
  def threadObserver: TransactionExecutionObserver

  def observeThread(observer: TransactionExecutionObserver): Unit

  /** Runs something with another observer of its transactions. */
  final def observed[T](observer: TransactionExecutionObserver)(work: => T): T = {
    val before = threadObserver
    observeThread(observer)
    try work
    finally observeThread(before)
  }

  /** Whether Delta would look for partitions to compact after the commit. */
  def mayAutoCompact(session: SparkSession, commit: Commit): Boolean

  /** The partitions that Delta would compact. Delta may have reserved them. */
  def autoCompactRequest(session: SparkSession, commit: Commit): AutoCompactRequest

  /** Has Delta compact the partitions. */
  def autoCompact(session: SparkSession, commit: Commit): Unit

  /** The checkpoint that a lazy one stands for. Reads its top-level file. */
  def complete(checkpoint: CheckpointProvider): CheckpointProvider

  /**
   * The actions of the table's checkpoint with its version, and with the JSON statistics of a file in
   * [[Snapshot.ADD_STATS_TO_USE_COL_NAME]]; None if there is no checkpoint.
   */
  def checkpointActions(session: SparkSession, snapshot: Snapshot): Option[DataFrame]

  /** The snapshot at a commit's version; its post-commit snapshot may be later. */
  def snapshotOf(commit: Snapshot, version: Long, catalogTable: Option[CatalogTable]): Snapshot

  /** The newest version of a table. */
  def newest(table: DeltaTableV2): Snapshot

  /** Has a table's commit coordinator put its commits where all readers look. */
  def publishCommits(snapshot: Snapshot, catalogTable: Option[CatalogTable]): Unit

  /** Whether VACUUM takes no notice of RETAIN, unless it is 0: the default since 4.1. */
  def ignoresRetention(session: SparkSession): Boolean = false

  /** Whether a VACUUM of Delta is LITE, which came with 3.3. */
  def isLite(command: VacuumTableCommand): Boolean

  /** Whether VACUUM leaves a file or a directory alone because of its name. */
  def isHidden(metadata: Metadata, name: String): Boolean

  /**
   * What Delta's OPTIMIZE strategies need besides columns.
   *
   * @throws io.deltaupkeep.UpkeepException `UNSUPPORTED_DELTA` for FULL where Delta has no such OPTIMIZE
   */
  def optimizeContext(statement: String, full: Boolean): DeltaOptimizeContext

  /** Whether an OPTIMIZE of Delta is FULL; None for REORG. */
  def fullOf(context: DeltaOptimizeContext): Option[Boolean]

  /** An OPTIMIZE as the history shows it. */
  def optimizeOperation(
      predicate: Seq[Expression],
      zOrderBy: Seq[String],
      auto: Boolean,
      clusterBy: Option[Seq[String]],
      full: Boolean
  ): DeltaOperations.Operation

  /** What Delta throws for FULL on a table that is not clustered; None where it has no FULL. */
  def fullRefusal: Option[Throwable]

  /** What Delta throws for an OPTIMIZE or REORG of a catalog-managed table; None where it does not refuse it. */
  def catalogManagedRefusal(statement: String): Option[Throwable] = None

  /** What Delta calls batches in the metrics of an OPTIMIZE: its commits, and one if it had nothing to do. */
  def batchesOf(bins: Int, commits: Int): Int = math.max(1, commits)

  /** Fails as Delta does for columns that have no order or no statistics. */
  def checkZOrder(
      command: OptimizeTableCommand,
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[UnresolvedAttribute]
  ): Unit

  /** The commits from a version on. Fails if one of them is missing. */
  def changes(
      log: DeltaLog,
      from: Long,
      catalogTable: Option[CatalogTable]
  ): Iterator[(Long, Seq[Action])]

  /** Whether the table's properties make Delta's writer store partition columns in files: the default since 4.4. */
  def storesPartitions(metadata: Metadata): Boolean = false

  /**
   * Makes the statistics of a file from its footer, also in a task.
   *
   * @param rebaseMode of dates in files that do not name their calendar
   * @param longest    text in characters
   */
  def statsCollector(snapshot: Snapshot, rebaseMode: String, longest: Int): StatsCollector
}

object DeltaApi {

  /** What the Delta on the class path offers, by the newest change that each implementation is for. */
  private def implementation: Option[String] =
    if (hasClass("org.apache.spark.sql.delta.FileBasedCheckpointProvider")) Some("Delta44")
    else if (hooksTake("CommittedTransaction")) Some("Delta41")
    else if (hasClass("org.apache.spark.sql.delta.ChainableExecutionObserver")) Some("Delta33")
    else if (hooksTake("OptimisticTransactionImpl")) Some("Delta32")
    else None

  /** The implementation in this artifact, or why it has none. */
  private lazy val found: Either[String, DeltaApi] =
    PlatformCheck.wrongDelta(VERSION).toLeft(()).flatMap { _ =>
      implementation
        .map(name => s"${classOf[DeltaApi].getPackage.getName}.$name$$")
        .filter(hasClass)
        .map(Class.forName(_).getField("MODULE$").get(null).asInstanceOf[DeltaApi])
        .toRight(PlatformCheck.unknownDelta(VERSION))
    }

  /** For the Delta on the class path. */
  private[upkeep] def current: DeltaApi = found.fold(why => throw new IllegalStateException(why), identity)

  /** Why this artifact does not support the Delta on the class path, or None. Then no other adapter code may run. */
  def problem: Option[String] = found.left.toOption

  /** @throws io.deltaupkeep.UpkeepException `UNSUPPORTED_DELTA` */
  def require(statement: String): Unit =
    problem.foreach(why =>
      throw UpkeepErrors.unsupportedDelta(statement, why, PlatformCheck.fix(SPARK_VERSION))
    )

  private def hasClass(name: String): Boolean =
    try {
      Class.forName(name, false, getClass.getClassLoader)
      true
    } catch { case _: ClassNotFoundException => false }

  private def hooksTake(name: String): Boolean =
    classOf[PostCommitHook].getMethods
      .exists(method => method.getName == "run" && method.getParameterTypes.exists(_.getSimpleName == name))
}
