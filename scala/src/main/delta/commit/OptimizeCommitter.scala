package org.apache.spark.sql.delta.upkeep.commit

import java.io.IOException
import java.util.ConcurrentModificationException

import scala.annotation.tailrec

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.compact.{CommitOutcome, OptimizeSettings}

import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction, RowTracking}
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.rewrite.{OddBins, RowComparison, WrittenBin}
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Commits the bins of an OPTIMIZE with `dataChange = false`, in batches as they are written.
 *
 * @param selected  the files of which the plan was made
 * @param operation as the history shows it
 * @param odd       is told the bins whose rows differ from those of their inputs
 */
private[upkeep] final class OptimizeCommitter(
    handle: DeltaHandle,
    selected: SelectedFiles,
    operation: DeltaOperations.Operation,
    settings: OptimizeSettings,
    odd: OddBins
) {
  import OptimizeCommitter._

  private val comparison = new RowComparison(handle)

  /**
   * What other writers deleted from the files of a bin meanwhile is deleted from its new file too. Bins whose files were
   * changed in other ways are dropped and their new files deleted; the rest is committed.
   * If a bin cannot be written, the new files that are not committed yet are deleted; earlier batches stay
   * committed. No file is deleted before the log shows that no commit names it.
   *
   * @param transaction in which the first batch is committed
   * @throws io.deltaupkeep.UpkeepException `OPTIMIZE_CONFLICT` if every attempt met a conflict
   */
  def commit(written: Iterator[WrittenBin], transaction: OptimisticTransaction): CommitOutcome =
    Iterator
      .continually(nextBatch(written))
      .takeWhile(_.nonEmpty)
      .zipWithIndex
      .map {
        case (batch, 0) => commit(transaction, batch.map(Rebased.unchanged(_, selected)), attempt = 1)
        case (batch, _) => commitSurvivors(batch, attempt = 1)
      }
      .foldLeft(CommitOutcome.nothingToDo)(_ ++ _)

  @tailrec
  private def nextBatch(written: Iterator[WrittenBin]): Seq[WrittenBin] = {
    val batch = Vector.newBuilder[WrittenBin]
    var bytes = 0L
    val verified =
      try {
        while (bytes < settings.maxBytesPerCommit && written.hasNext) {
          val next = written.next()
          batch += next
          bytes += next.bin.bin.sizeInBytes
        }
        verify(batch.result().map(Rebased.unchanged(_, selected))).map(_.written)
      } catch {
        // An interrupt too.
        case failure: Throwable =>
          removeFiles(batch.result())
          throw failure
      }
    if (verified.isEmpty && written.hasNext) nextBatch(written) else verified
  }

  /** The bins whose rows are those of their inputs. The new files of others are removed. */
  private def verify(bins: Seq[Rebased]): Seq[Rebased] =
    if (!settings.verify || bins.isEmpty || differences(bins).isEmpty) bins
    else
      bins.filter { bin =>
        val differing = differences(Seq(bin))
        if (differing.nonEmpty) {
          bin.removeVector(handle)
          removeFiles(Seq(bin.written))
          odd.add(bin.written.bin.bin, RowComparison.told(differing))
        }
        differing.isEmpty
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
        // Other writers deleted all of their rows.
        removeFiles(bins.filter(_.adds.isEmpty).map(_.written))
        CommitOutcome(version.toSeq, bins.map(_.bin(selected)), Nil)
      case Left(conflict) =>
        bins.foreach(_.removeVector(handle))
        val written = bins.map(_.written)
        if (attempt == MaxAttempts) {
          removeFiles(written)
          throw UpkeepErrors.optimizeConflict(handle.name, MaxAttempts, conflict)
        }
        commitSurvivors(written, attempt + 1)
    }

  /** Commits the bins that can be carried over to the table as it is now. */
  private def commitSurvivors(bins: Seq[WrittenBin], attempt: Int): CommitOutcome = {
    val (next, (surviving, lost)) =
      try {
        val next = handle.table.startTransaction(None)
        (next, rebased(next, bins, attempt))
      } catch {
        // No commit names these files.
        case failure: Throwable =>
          removeFiles(bins)
          throw failure
      }
    removeFiles(lost)
    commit(next, surviving, attempt) ++ CommitOutcome(Nil, Nil, lost.map(_.bin.bin))
  }

  private def rebased(
      next: OptimisticTransaction,
      bins: Seq[WrittenBin],
      attempt: Int
  ): (Seq[Rebased], Seq[WrittenBin]) = {
    val (surviving, lost) = new Rebase(handle, selected, next, carries(attempt))(bins)
    val (late, asRead) = surviving.partition(_.lateRows > 0)
    try {
      (asRead ++ verify(late), lost)
    } catch {
      case failure: Throwable =>
        surviving.foreach(_.removeVector(handle))
        throw failure
    }
  }

  /** A REORG is asked to leave no deleted rows. */
  private def carries(attempt: Int): Boolean =
    attempt <= MostCarried && !operation.isInstanceOf[DeltaOperations.Reorg]

  private def tryCommit(
      transaction: OptimisticTransaction,
      bins: Seq[Rebased]
  ): Either[ConcurrentModificationException, Option[Long]] =
    if (bins.isEmpty) Right(None)
    else {
      val removed = bins.flatMap(_.removed)
      val added = bins.flatMap(_.adds)
      val now = System.currentTimeMillis()
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

  /** Delta resolves conflicts that do not touch our files by itself, so each attempt here met one that does. */
  private val MaxAttempts = 10

  /** Later attempts lose the bins that writers change again and again, so that the others get through. */
  private val MostCarried = 5
}
