package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.CountText
import io.deltaupkeep.optimize._
import io.deltaupkeep.parquet.file.{ChunkTier, SpliceOutcome}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Splices the bins of a plan that do not need the rows tier, in one Spark job with a task for each.
 *
 * @param actionOf Delta's action for a file
 */
private[upkeep] final class BinSplicer(
    handle: DeltaHandle,
    plan: OptimizePlan,
    actionOf: DataFile => AddFile
) {

  private[optimize] val rewriter = new SpliceRewriter(handle.session, handle.snapshot, plan.targetFileSize)

  /** The bins to splice, and the others. */
  val (needRows, bins) = plan.bins.partition(_.tier.isInstanceOf[Tier.Rows])

  val tasks: Seq[SpliceTask] = bins.zipWithIndex.map { case (bin, index) =>
    rewriter.task(index, bin.files.map(actionOf))
  }

  /** Runs the job and returns the results as they arrive. */
  def run(): ClosableIterator[SpliceTaskResult] = job.run(tasks)

  /** The plan with the tiers that the footers of its files require, and the row groups of each bin. */
  def preview(): (OptimizePlan, Map[Bin, RowGroupCounts]) = {
    val results = job.preview(tasks).map(result => result.index -> result.outcome).toMap
    val tiered = bins.zipWithIndex.map { case (bin, index) =>
      bin -> bin.copy(tier = BinSplicer.tierOf(results(index)))
    }.toMap
    val counts = bins.zipWithIndex.flatMap { case (bin, index) =>
      BinSplicer.rowGroupsOf(results(index)).map(tiered(bin) -> _)
    }
    (plan.copy(bins = plan.bins.map(bin => tiered.getOrElse(bin, bin))), counts.toMap)
  }

  private def job: SpliceJob = {
    val files = CountText.of(bins.map(_.files.size).sum, "file")
    rewriter.job(s"OPTIMIZE ${handle.name}: $files in ${CountText.of(tasks.size, "bin")}", tasks.size)
  }
}

private[upkeep] object BinSplicer {

  def rowGroupsOf(outcome: SpliceOutcome): Option[RowGroupCounts] = outcome match {
    case done: SpliceOutcome.Done =>
      Some(RowGroupCounts(done.rowGroupsBefore.toLong, done.rowGroupsAfter.toLong))
    case SpliceOutcome.Refused(_) => None
  }

  def tierOf(outcome: SpliceOutcome): Tier = outcome match {
    case SpliceOutcome.Refused(reason) => Tier.Rows(reason)
    case done: SpliceOutcome.Done =>
      done.tier match {
        case ChunkTier.Copy => Tier.Copy(done.reason)
        case ChunkTier.Splice => Tier.Splice(done.reason)
        case ChunkTier.Transcode => Tier.Transcode(done.reason)
      }
  }
}
