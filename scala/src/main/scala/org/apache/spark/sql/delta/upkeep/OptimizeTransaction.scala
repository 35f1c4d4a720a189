package org.apache.spark.sql.delta.upkeep

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.optimize.{Bin, CommitOutcome, DataFile, Layout, OptimizePlan, RewrittenBin}

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction, RowTracking}
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.util.ThreadUtils

/**
 * One OPTIMIZE of one table, from the files that it may rewrite to the commit.
 *
 * The driver holds Delta's action for every file that the predicate selects: about 1 KB each with
 * statistics, so a gigabyte for a million files.
 *
 * @param predicate conditions on partition columns that choose the files
 */
final class OptimizeTransaction(handle: DeltaHandle, predicate: Seq[Expression]) extends Logging {
  import OptimizeTransaction._

  private val session = handle.session
  private val snapshot = handle.snapshot

  private lazy val selected: Map[DataFile.Id, AddFile] =
    snapshot.filesForScan(predicate, keepNumRecords = true).files.map(add => idOf(add) -> add).toMap

  /** The files that the predicate selects. */
  lazy val files: Seq[DataFile] = selected.values.map(dataFile).toSeq

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

  /**
   * Writes the new files of every bin, then commits them with `dataChange = false`. Bins that another
   * writer overtook are dropped and their new files removed; the rest is committed. When a bin cannot be
   * written, the new files of all others are removed and nothing is committed.
   *
   * @throws UpkeepException `OPTIMIZE_CONFLICT` when every attempt met a conflict
   */
  def execute(plan: OptimizePlan): CommitOutcome = {
    val transaction = handle.table.startTransaction(Some(snapshot))
    commit(transaction, plan, write(transaction, plan), attempt = 1)
  }

  private def write(transaction: OptimisticTransaction, plan: OptimizePlan): Seq[Written] = {
    val rewriter = new RowRewriter(transaction, RowRewriter.strategyOf(session, snapshot, plan.layout), plan)
    val threads = session.sessionState.conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS)
    val results = ThreadUtils.parmap(plan.bins, "delta-upkeep-optimize", threads) { bin =>
      session.sparkContext.setJobDescription(
        s"OPTIMIZE ${handle.name}: ${bin.files.size} files ${bin.partition}"
      )
      try Right(Written(bin, rewriter.rewrite(bin, bin.files.map(file => selected(file.id)))))
      catch { case NonFatal(e) => Left(e) }
    }
    results.collectFirst { case Left(failure) =>
      removeFiles(results.collect { case Right(written) => written })
      throw failure
    }
    results.collect { case Right(written) => written }
  }

  @tailrec
  private def commit(
      transaction: OptimisticTransaction,
      plan: OptimizePlan,
      bins: Seq[Written],
      attempt: Int
  ): CommitOutcome =
    tryCommit(transaction, plan, bins) match {
      case Right(version) =>
        val committed = bins.map(w => RewrittenBin(w.bin, w.adds.map(_.size)))
        val kept = bins.map(_.bin).toSet
        CommitOutcome(version, committed, plan.bins.filterNot(kept))
      case Left(conflict) if attempt == MaxAttempts =>
        removeFiles(bins)
        throw UpkeepErrors.optimizeConflict(handle.name, MaxAttempts, conflict)
      case Left(_) =>
        val next = handle.table.startTransaction(None)
        val present = next.snapshot.filesForScan(predicate).files.map(idOf).toSet
        // The new files follow the schema, the properties and the features that the table had.
        val sameTable = next.metadata == snapshot.metadata && next.protocol == snapshot.protocol
        val (surviving, lost) = bins.partition(sameTable && _.bin.files.forall(f => present(f.id)))
        removeFiles(lost)
        commit(next, plan, surviving, attempt + 1)
    }

  private def tryCommit(
      transaction: OptimisticTransaction,
      plan: OptimizePlan,
      bins: Seq[Written]
  ): Either[ConcurrentModificationException, Option[Long]] =
    if (bins.isEmpty) Right(None)
    else {
      val removed = bins.flatMap(_.bin.files.map(file => selected(file.id)))
      val added = bins.flatMap(_.adds)
      val now = System.currentTimeMillis()
      val actions: Seq[Action] = added ++ removed.map(_.removeWithTimestamp(now, dataChange = false))
      transaction.trackFilesRead(removed)
      transaction.trackReadPredicates(predicate)
      transaction.registerSQLMetrics(session, HistoryMetrics.ofOptimize(session.sparkContext, added, removed))
      val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(transaction.snapshot)
      try Right(Some(transaction.commit(actions, operation(plan), tags)))
      catch { case conflict: ConcurrentModificationException => Left(conflict) }
    }

  private def operation(plan: OptimizePlan): DeltaOperations.Operation = plan.layout match {
    case Layout.Compact => DeltaOperations.Optimize(predicate)
    case Layout.ZOrder(columns) => DeltaOperations.Optimize(predicate, zOrderBy = columns)
    case Layout.Cluster(columns, full) =>
      DeltaOperations.Optimize(predicate, clusterBy = Some(columns), isFull = full)
  }

  /** Best effort: a file that stays is in no version of the table, and VACUUM removes it. */
  private def removeFiles(bins: Seq[Written]): Unit = {
    val fileSystem = snapshot.dataPath.getFileSystem(handle.hadoopConf)
    bins.flatMap(_.adds).foreach { add =>
      val file: Path = DeltaFileOperations.absolutePath(handle.path, add.path)
      try fileSystem.delete(file, false)
      catch { case NonFatal(e) => logWarning(s"The uncommitted file $file stays until VACUUM", e) }
    }
  }

  private val partitionSchema = snapshot.metadata.physicalPartitionSchema
  private val partitionNames = snapshot.metadata.partitionColumns

  private def dataFile(add: AddFile): DataFile = {
    val values = add.normalizedPartitionValues(session, partitionSchema)
    DataFile(
      path = add.path,
      deletionVector = add.getDeletionVectorUniqueId,
      sizeInBytes = add.size,
      modificationTime = add.modificationTime,
      partition = partitionNames
        .zip(partitionSchema.fieldNames)
        .map { case (name, physical) => s"$name=${values(physical)}" }
        .mkString(", "),
      physicalRows = add.numPhysicalRecords,
      deletedRows = add.numDeletedRecords,
      optimizedFor = add.longTag(AddFile.Tags.OPTIMIZE_TARGET_SIZE)
    )
  }
}

private object OptimizeTransaction {

  /** Delta resolves conflicts that do not touch our files by itself, so each attempt here loses bins. */
  private val MaxAttempts = 10

  private final case class Written(bin: Bin, adds: Seq[AddFile])

  private def idOf(add: AddFile): DataFile.Id = DataFile.Id(add.path, add.getDeletionVectorUniqueId)

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
