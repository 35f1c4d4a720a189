package org.apache.spark.sql.delta.upkeep.commit

import java.io.IOException
import java.util.ConcurrentModificationException

import scala.annotation.tailrec

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.compact.{Bin, CommitOutcome, OddBin, OptimizeSettings}

import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction, RowTracking}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.rewrite.{BinOutcome, RowComparison, WrittenBin}
import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Commits the bins of an OPTIMIZE with `dataChange = false`, in batches as they are written.
 *
 * @param selected  the files that the plan was made from
 * @param operation as the history shows it
 * @param mayHide   whether a deletion vector may hide rows of new files
 */
private[upkeep] final class OptimizeCommitter(
    handle: DeltaHandle,
    selected: SelectedFiles,
    operation: DeltaOperations.Operation,
    settings: OptimizeSettings,
    mayHide: Boolean
) {
  import CommitOutcome.nothingToDo
  import OptimizeCommitter._

  private val comparison = new RowComparison(handle)
  private val metrics = UpkeepMetrics.of(handle).rewrite

  /**
   * Rows that other writers meanwhile deleted from a bin's files are deleted from its new file too. Bins whose files
   * were changed in other ways are dropped and their new files deleted; the rest is committed.
   * If a bin cannot be written, the new files that are not committed yet are deleted; earlier batches stay
   * committed. A file is deleted only after the log shows that no commit names it.
   *
   * @param transaction in which the first batch is committed
   * @throws io.deltaupkeep.UpkeepException `OPTIMIZE_CONFLICT` if every attempt met a conflict
   */
  def commit(outcomes: Iterator[BinOutcome.Final], transaction: OptimisticTransaction): CommitOutcome =
    Iterator
      .continually(nextBatch(outcomes))
      .takeWhile(_.nonEmpty)
      .zipWithIndex
      .map {
        case (batch, _) if batch.bins.isEmpty => batch.others
        case (batch, 0) =>
          batch.others ++ commit(transaction, batch.bins.map(Rebased.unchanged(_, selected)), attempt = 1)
        case (batch, _) => batch.others ++ commitSurvivors(batch.bins, attempt = 1)
      }
      .foldLeft(nothingToDo)(_ ++ _)

  /** As many bins as one commit may have; empty if none are left to commit. */
  @tailrec
  private def nextBatch(outcomes: Iterator[BinOutcome.Final], before: CommitOutcome = nothingToDo): Batch = {
    val bins = Vector.newBuilder[WrittenBin]
    val left = Vector.newBuilder[Bin]
    val odd = Vector.newBuilder[OddBin]
    var bytes = 0L
    val same =
      try {
        while (bytes < settings.maxBytesPerCommit && outcomes.hasNext) outcomes.next() match {
          case BinOutcome.Written(bin) =>
            bins += bin
            bytes += bin.bin.bin.sizeInBytes
          case BinOutcome.Left(bin) => left += bin
          case BinOutcome.Odd(bin) => odd += bin
        }
        val (same, differing) = verified(bins.result().map(Rebased.unchanged(_, selected)))
        odd ++= differing
        same.map(_.written)
      } catch {
        // Including interrupts.
        case failure: Throwable =>
          removeFiles(bins.result())
          throw failure
      }
    val others = before ++ CommitOutcome(left = left.result(), odd = odd.result())
    if (same.isEmpty && outcomes.hasNext) nextBatch(outcomes, others) else Batch(same, others)
  }

  /** The bins whose rows match their inputs, and the others, whose new files are removed. */
  private def verified(bins: Seq[Rebased]): (Seq[Rebased], Seq[OddBin]) =
    if (!settings.verify || bins.isEmpty || differences(bins).isEmpty) (bins, Nil)
    else
      bins.map(bin => bin -> differences(Seq(bin))).partitionMap {
        case (same, Nil) => Left(same)
        case (bin, columns) =>
          bin.removeVectors(handle)
          removeFiles(Seq(bin.written))
          Right(OddBin(bin.written.bin.bin, RowComparison.told(columns)))
      }

  private def differences(bins: Seq[Rebased]): Seq[String] =
    comparison.differences(bins.flatMap(_.removed), bins.flatMap(_.adds))

  private def commit(
      transaction: OptimisticTransaction,
      bins: Seq[Rebased],
      attempt: Int
  ): CommitOutcome =
    tryCommit(transaction, bins) match {
      case Right(version) =>
        bins.foreach(_.removeEmptied(handle))
        val committed = bins.map(_.bin(selected))
        if (version.nonEmpty) metrics.committed(committed)
        CommitOutcome(version.toSeq, committed)
      case Left(conflict) =>
        metrics.conflicts.inc()
        bins.foreach(_.removeVectors(handle))
        val written = bins.map(_.written)
        if (attempt == MaxAttempts) {
          removeFiles(written)
          throw UpkeepErrors.optimizeConflict(handle.name, MaxAttempts, conflict)
        }
        commitSurvivors(written, attempt + 1)
    }

  /** Commits the bins that can be carried over to the table as it is now. */
  private def commitSurvivors(bins: Seq[WrittenBin], attempt: Int): CommitOutcome = {
    val (next, carried) =
      try {
        val next = handle.table.startTransaction(None)
        (next, carriedOver(next, bins, attempt))
      } catch {
        // No commit names these files.
        case failure: Throwable =>
          removeFiles(bins)
          throw failure
      }
    removeFiles(carried.lost)
    metrics.lost.inc(carried.lost.size.toLong)
    commit(next, carried.surviving, attempt) ++
      CommitOutcome(lost = carried.lost.map(_.bin.bin), odd = carried.odd)
  }

  private def carriedOver(next: OptimisticTransaction, bins: Seq[WrittenBin], attempt: Int): Carried = {
    val carries = attempt <= MostCarried && mayHide
    val (surviving, lost) = new Rebase(handle, selected, next, carries)(bins)
    val (late, asRead) = surviving.partition(_.lateRows > 0)
    try {
      val (same, odd) = verified(late)
      Carried(asRead ++ same, lost, odd)
    } catch {
      case failure: Throwable =>
        surviving.foreach(_.removeVectors(handle))
        throw failure
    }
  }

  private def tryCommit(
      transaction: OptimisticTransaction,
      bins: Seq[Rebased]
  ): Either[ConcurrentModificationException, Option[Long]] =
    if (bins.isEmpty) Right(None)
    else {
      val removed = bins.flatMap(_.removed)
      val added = bins.flatMap(_.adds)
      val now = handle.now
      val actions: Seq[Action] = added ++ removed.map(_.removeWithTimestamp(now, dataChange = false))
      transaction.trackFilesRead(removed.flatMap(selected.ids.spellings))
      transaction.trackReadPredicates(selected.predicate)
      transaction.registerSQLMetrics(
        handle.session,
        HistoryMetrics.ofOptimize(handle.session.sparkContext, added, removed)
      )
      val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(transaction.snapshot)
      try Right(Some(transaction.commit(actions, operation, tags)))
      catch {
        case conflict: ConcurrentModificationException =>
          LandedCommit.version(handle, transaction, added, conflict).map(Some(_)).toRight(conflict)
        // If the commit is not in the log, it may still arrive, so its files stay.
        case failure: IOException =>
          Right(Some(LandedCommit.version(handle, transaction, added, failure).getOrElse(throw failure)))
      }
    }

  private def removeFiles(bins: Seq[WrittenBin]): Unit = bins.foreach(_.remove(handle))
}

private object OptimizeCommitter {

  /** What is committed together, and what else was found meanwhile. */
  private final case class Batch(bins: Seq[WrittenBin], others: CommitOutcome) {
    def nonEmpty: Boolean = bins.nonEmpty || others != CommitOutcome.nothingToDo
  }

  private final case class Carried(surviving: Seq[Rebased], lost: Seq[WrittenBin], odd: Seq[OddBin])

  /** Delta itself resolves conflicts that do not touch our files, so each attempt here met one that does. */
  private val MaxAttempts = 10

  /** Later attempts give up bins that writers keep changing, so that the others get through. */
  private val MostCarried = 5
}
