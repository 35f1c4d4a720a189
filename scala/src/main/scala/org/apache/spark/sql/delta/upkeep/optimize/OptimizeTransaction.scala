package org.apache.spark.sql.delta.upkeep.optimize

import java.io.IOException
import java.net.URI
import java.util.ConcurrentModificationException

import scala.util.control.NonFatal

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.optimize._

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction, RowTracking}
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.upkeep.log.FileKey
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * One OPTIMIZE of one table, from the files that it may rewrite to the commit.
 *
 * The driver holds Delta's action for every file that the predicate selects: about 1 KB each with
 * statistics, so a gigabyte for a million files.
 *
 * @param predicate conditions on partition columns that choose the files
 * @param isAuto    whether a commit asked for it, and not a user: the history says so
 */
final class OptimizeTransaction(handle: DeltaHandle, predicate: Seq[Expression], isAuto: Boolean = false) {
  import OptimizeTransaction._

  private val session = handle.session
  private val snapshot = handle.snapshot

  private lazy val selected: Map[DataFile.Id, AddFile] =
    ActiveFiles.of(handle, predicate).iterator.map(add => idOf(add) -> add).toMap

  /** The files that the predicate selects. */
  lazy val files: Seq[DataFile] = selected.values.map(dataFile).toSeq

  /** The same as Delta has them. */
  private[upkeep] def adds: Iterable[AddFile] = selected.values

  /** Why no file can be spliced, if so. */
  def needsRows: Option[String] = SpliceEligibility.rowsReason(session, snapshot)

  /** The groups of files that liquid clustering should order together, by Delta's own choice. */
  def clusteringGroups(layout: Layout.Cluster): Seq[Seq[DataFile]] = {
    val strategy = RowRewriter.strategyOf(session, snapshot, layout)
    val prepared = strategy.prepareFilesPerPartition(selected.values.toSeq).map(dataFile)
    groupsUpTo(prepared, strategy.maxBinSize)
  }

  /** Delta's own rules for the columns of ZORDER BY: of a type with an order, with statistics. */
  def checkZOrderColumns(columns: Seq[Seq[String]]): Unit = {
    val attributes = columns.map(UnresolvedAttribute(_))
    OptimizeTableCommand(Some(handle.path), None, Nil)(attributes)
      .validateZorderByColumns(session, snapshot, attributes)
  }

  /** The plan with the tiers that the footers of its files ask for, and the row groups of each bin. */
  def preview(plan: OptimizePlan): (OptimizePlan, Map[Bin, RowGroupCounts]) =
    new BinWriter(handle, startTransaction(), plan, actionOf).preview()

  /**
   * Writes the new files of every bin and commits them with `dataChange = false`, in batches as they come.
   * Bins that another writer overtook are dropped and their new files removed; the rest is committed. When a
   * bin cannot be written, the new files that wait for a commit are removed; earlier batches stay. No file is
   * removed before the log says that no commit names it.
   *
   * @throws UpkeepException `OPTIMIZE_CONFLICT` when every attempt met a conflict, `REWRITE_MISMATCH` when a new
   *                         file does not hold what its inputs hold
   */
  def execute(plan: OptimizePlan, settings: OptimizeSettings): CommitOutcome = {
    val transaction = startTransaction()
    val written = new BinWriter(handle, transaction, plan, actionOf).write()
    try {
      val batches = Iterator
        .continually(nextBatch(written, settings))
        .takeWhile(_.nonEmpty)
        .zipWithIndex
        .map {
          case (batch, 0) => commit(transaction, plan, batch, attempt = 1)
          case (batch, _) => commitSurvivors(plan, batch, attempt = 1)
        }
      batches.foldLeft(CommitOutcome.nothingToDo)(_ ++ _)
    } finally written.close()
  }

  private def startTransaction(): OptimisticTransaction = handle.table.startTransaction(Some(snapshot))

  private def nextBatch(written: Iterator[Written], settings: OptimizeSettings): Seq[Written] = {
    val batch = Vector.newBuilder[Written]
    var bytes = 0L
    try {
      while (bytes < settings.maxBytesPerCommit && written.hasNext) {
        val next = written.next()
        batch += next
        bytes += next.bin.bin.sizeInBytes
      }
      if (settings.verify) verify(batch.result())
    } catch {
      case NonFatal(failure) =>
        removeFiles(batch.result())
        throw failure
    }
    batch.result()
  }

  private def verify(bins: Seq[Written]): Unit = if (bins.nonEmpty) {
    val differing =
      new RowComparison(handle).differences(bins.flatMap(_.inputs.map(actionOf)), bins.flatMap(_.adds))
    if (differing.nonEmpty)
      throw UpkeepErrors.rewriteMismatch(
        handle.name,
        s"As Spark reads them, rows differ in ${differing.mkString(", ")}."
      )
  }

  private def commit(
      transaction: OptimisticTransaction,
      plan: OptimizePlan,
      bins: Seq[Written],
      attempt: Int
  ): CommitOutcome =
    tryCommit(transaction, plan, bins) match {
      case Right(version) => CommitOutcome(version.toSeq, bins.map(_.bin), Nil)
      case Left(conflict) if attempt == MaxAttempts =>
        removeFiles(bins)
        throw UpkeepErrors.optimizeConflict(handle.name, MaxAttempts, conflict)
      case Left(_) => commitSurvivors(plan, bins, attempt + 1)
    }

  /** Commits the bins whose files are still in the table, as it is now. */
  private def commitSurvivors(plan: OptimizePlan, bins: Seq[Written], attempt: Int): CommitOutcome = {
    val next = handle.table.startTransaction(None)
    val present = next.snapshot.filesForScan(predicate).files.map(idOf).toSet
    // The new files follow the schema, the properties and the features that the table had.
    val sameTable = next.metadata == snapshot.metadata && next.protocol == snapshot.protocol
    val (surviving, lost) = bins.partition(sameTable && _.inputs.forall(f => present(f.id)))
    removeFiles(lost)
    commit(next, plan, surviving, attempt) ++ CommitOutcome(Nil, Nil, lost.map(_.bin.bin))
  }

  private def tryCommit(
      transaction: OptimisticTransaction,
      plan: OptimizePlan,
      bins: Seq[Written]
  ): Either[ConcurrentModificationException, Option[Long]] =
    if (bins.isEmpty) Right(None)
    else {
      val removed = bins.flatMap(_.inputs.map(actionOf))
      val added = bins.flatMap(_.adds)
      val now = System.currentTimeMillis()
      val actions: Seq[Action] = added ++ removed.map(_.removeWithTimestamp(now, dataChange = false))
      transaction.trackFilesRead(removed.flatMap(spellings))
      transaction.trackReadPredicates(predicate)
      transaction.registerSQLMetrics(session, HistoryMetrics.ofOptimize(session.sparkContext, added, removed))
      val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(transaction.snapshot)
      try Right(Some(transaction.commit(actions, operation(plan), tags)))
      catch {
        case conflict: ConcurrentModificationException =>
          LandedCommit.version(handle, transaction, added, conflict).map(Some(_)).toRight(conflict)
        // Where it is not in the log, it may be yet: its files stay.
        case failure: IOException =>
          Right(Some(LandedCommit.version(handle, transaction, added, failure).getOrElse(throw failure)))
      }
    }

  /**
   * The file by each path that a removal of it may name, for Delta's check for conflicts compares texts: Delta
   * removes a file by its canonical path, `file:///a` say; others by that of the log, which may be `/a`.
   */
  private def spellings(add: AddFile): Seq[AddFile] =
    if (!FileKey.isUnusual(add.path)) Seq(add)
    else {
      val canonical = canonicalPath(add.path)
      val bare = new URI(canonical).getRawPath
      val whole = canonicalPath(bare)
      val same = if (new URI(whole) == new URI(canonical)) Seq(bare, whole) else Nil
      (Seq(add.path, canonical) ++ same).distinct.map(path => add.copy(path = path))
    }

  private lazy val canonicalPath = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)

  private def operation(plan: OptimizePlan): DeltaOperations.Operation = plan.layout match {
    case Layout.Compact => DeltaOperations.Optimize(predicate, auto = isAuto)
    case Layout.ZOrder(columns) => DeltaOperations.Optimize(predicate, zOrderBy = columns)
    case Layout.Cluster(columns, full) =>
      DeltaOperations.Optimize(predicate, clusterBy = Some(columns), isFull = full)
  }

  private def removeFiles(bins: Seq[Written]): Unit = NewFiles.remove(handle, bins.flatMap(_.adds))

  private def actionOf(file: DataFile): AddFile = selected(file.id)

  private val partitions = new Partitions(snapshot.metadata)

  /** By the canonical path, as Delta's replay tells files apart. */
  private def idOf(add: AddFile): DataFile.Id = DataFile.Id(
    if (FileKey.isUnusual(add.path)) canonicalPath(add.path) else add.path,
    add.getDeletionVectorUniqueId
  )

  private def dataFile(add: AddFile): DataFile = DataFile(
    path = idOf(add).path,
    deletionVector = add.getDeletionVectorUniqueId,
    sizeInBytes = add.size,
    modificationTime = add.modificationTime,
    partition = partitions.of(add),
    physicalRows = MergedStats.numRecords(add.stats),
    deletedRows = add.numDeletedRecords,
    optimizedFor = add.longTag(AddFile.Tags.OPTIMIZE_TARGET_SIZE)
  )
}

private object OptimizeTransaction {

  /** Delta resolves conflicts that do not touch our files by itself, so each attempt here loses bins. */
  private val MaxAttempts = 10

  /** Neighbours, up to a size, in the order given: Z-cubes must not be torn apart. */
  private def groupsUpTo(files: Seq[DataFile], maxBytes: Long): Seq[Seq[DataFile]] =
    files
      .foldLeft(List.empty[(Long, Vector[DataFile])]) {
        case ((bytes, group) :: done, file) if bytes + file.sizeInBytes <= maxBytes =>
          (bytes + file.sizeInBytes, group :+ file) :: done
        case (done, file) => (file.sizeInBytes, Vector(file)) :: done
      }
      .reverse
      .map { case (_, group) => group }
}
