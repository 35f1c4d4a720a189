package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.ClosableIterator
import io.deltaupkeep.parquet.file.SpliceOutcome
import io.deltaupkeep.plan.compact.{Bin, DataFile, RewrittenBin, RowsCause, Tier, TierWork}
import io.deltaupkeep.stats.{MergedStats, RewriteCheck}
import io.deltaupkeep.store.NewFiles

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.splice.{BinSplicer, Finding, SpliceTaskResult}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * The bins of a plan that can be spliced, written in one Spark job, and what the rows tier has to do instead.
 *
 * @param targetFileSize of the plan, in bytes
 * @param actionOf       Delta's action for a file
 */
private[rewrite] final class SplicedBins(
    handle: DeltaHandle,
    layout: RewriteLayout,
    targetFileSize: Long,
    splicer: BinSplicer,
    settlement: Settlement,
    actionOf: DataFile => AddFile
) {
  import splicer.rewriter

  /** The outcomes as they arrive. Closing it removes the files of results that were not taken. */
  def write(): ClosableIterator[BinOutcome] = {
    val results = splicer.run()
    // The driver merges statistics while the tasks run.
    val stats = splicer.bins.map(statsOf)
    ClosableIterator(results.flatMap(result => outcomesOf(result, stats(result.index))))(results.close())
  }

  /** @param ofAll what the log says about the rows of the whole bin */
  private def outcomesOf(result: SpliceTaskResult, ofAll: MergedStats.Result): Seq[BinOutcome] =
    try {
      val parts = splicer.partsOf(result)
      val spliced = parts.spliced.map { case (bin, done) =>
        val stats = if (result.refused.isEmpty) ofAll else statsOf(bin)
        checked(written(bin, done, result, stats), done, stats, result.finding)
      }
      spliced.toSeq ++ parts.byRows.map(BinOutcome.NeedsRows(_)) ++ parts.left.map(BinOutcome.Left(_))
    } catch {
      // Including interrupts. Nothing else knows of the new file yet.
      case failure: Throwable =>
        val directory = splicer.tasks(result.index).directory
        NewFiles.remove(result.files.map(file => new Path(directory, file.name)), handle.hadoopConf)
        throw failure
    }

  private def statsOf(bin: Bin): MergedStats.Result = rewriter.statsOf(bin.files.map(actionOf))

  private def written(
      bin: Bin,
      done: SpliceOutcome.Done,
      result: SpliceTaskResult,
      stats: MergedStats.Result
  ): WrittenBin = {
    val input = actionOf(bin.files.head)
    val adds = result.files.map(rewriter.addFile(splicer.tasks(result.index), _, input, stats))
    val work = done.tallies.map { case (tier, tally) =>
      TierWork(tier.name, tally.bytes, tally.nanos / 1000000)
    }
    WrittenBin(
      RewrittenBin(bin, adds.map(_.size), Some(BinSplicer.rowGroupsOf(done)), work.toSeq),
      if (splicer.isOrdered(bin)) adds.map(layout.marked(targetFileSize))
      else adds.map(InPlace.of(bin, input, _)),
      result.run.fold[Placement](Placement.InRuns(done.placed)) { run =>
        Placement.InOrder(run, result.files.flatMap(_.traced))
      }
    )
  }

  /** Compares a spliced bin with what the log says about its inputs, and weighs what a spot check found. */
  private def checked(
      written: WrittenBin,
      done: SpliceOutcome.Done,
      stats: MergedStats.Result,
      finding: Option[Finding]
  ): BinOutcome = {
    val verdict = done.totals match {
      case Some(totals) => rewriter.check(stats, totals)
      case None => RewriteCheck.ofNoRows(stats)
    }
    (verdict, finding) match {
      case (RewriteCheck.InputsDisagree(reason), _) => byRows(written, reason)
      case (RewriteCheck.Differs(difference), _) =>
        // The log or a footer is wrong about the inputs, so the new file needs numbers computed from its rows.
        settlement.settled(written, difference) match {
          case BinOutcome.Written(same) =>
            byRows(same, s"the log and the footers of its files disagree: $difference")
          case other => other
        }
      case (RewriteCheck.Same, Some(Finding.OfBounds(reason))) => byRows(written, reason)
      case (RewriteCheck.Same, Some(Finding.OfRows(difference))) => settlement.settled(written, difference)
      case (RewriteCheck.Same, None) => settlement.accepted(written)
    }
  }

  private def byRows(written: WrittenBin, reason: String): BinOutcome = {
    written.remove(handle)
    BinOutcome.NeedsRows(written.bin.bin.copy(tier = Tier.Rows(reason, RowsCause.Statistics)))
  }
}
