package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.{ClosableIterator, CountText}
import io.deltaupkeep.parquet.file.{Refusal, SpliceOutcome}
import io.deltaupkeep.parquet.plan.ChunkTier
import io.deltaupkeep.plan.compact.{
  Bin,
  BinSplit,
  DataFile,
  OptimizePlan,
  RewriteNeed,
  RowGroupCounts,
  RowsCause,
  Tier
}

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Splices the bins of a plan that do not need the rows tier, in one Spark job with a task for each.
 *
 * @param actionOf Delta's action for a file
 * @param curve    along which rows are ordered, if they are
 */
private[upkeep] final class BinSplicer(
    handle: DeltaHandle,
    plan: OptimizePlan,
    actionOf: DataFile => AddFile,
    curve: Option[CurveOf]
) {

  private[upkeep] val rewriter =
    new TableSplice(handle.session, handle.snapshot, plan.targetFileSize, plan.compression)

  /** The bins to splice, and the others. */
  val (needRows, bins) = plan.bins.partition(_.tier.isInstanceOf[Tier.Rows])

  val tasks: Seq[SpliceTask] = bins.zipWithIndex.map { case (bin, index) =>
    val split = BinSplit(bin.files.map(RewriteNeed.of(_, bin, plan)).toIndexedSeq, bin.mayStay)
    val order =
      Option.when(isOrdered(bin))(plan.outputsOf(bin)).flatMap(outputs => curve.map(_.through(outputs)))
    rewriter.task(index, bin.files.map(actionOf), split, order)
  }

  /** Whether the rows of a bin are put in another order. */
  def isOrdered(bin: Bin): Boolean = bin.tier.isInstanceOf[Tier.Gather]

  /** Runs the job and returns the results as they arrive. */
  def run(): ClosableIterator[SpliceTaskResult] = job.run(tasks)

  /** What becomes of a bin by the result of its task. */
  def partsOf(result: SpliceTaskResult): BinParts = {
    val bin = bins(result.index)
    val parts = tasks(result.index).split.parts(result.refused)
    def part(positions: Seq[Int], tier: => Tier) =
      Option.when(positions.nonEmpty)(bin.copy(files = positions.map(bin.files), tier = tier))
    // The reason of a refused file: others may only come along.
    def rows(positions: Seq[Int]) = BinSplicer.tierOf(bin, positions.flatMap(result.refused.get(_)).head)
    BinParts(
      result.done.flatMap(done => part(parts.spliced, BinSplicer.tierOf(bin, done)).map(_ -> done)),
      part(parts.byRows, rows(parts.byRows)),
      part(parts.left, rows(parts.left))
    )
  }

  /** The plan with the tiers that the footers of its files require, and the row groups of each bin. */
  def preview(): (OptimizePlan, Map[Bin, RowGroupCounts]) = {
    val split = job.preview(tasks).map(result => bins(result.index) -> partsOf(result)).toMap
    val counts = split.values.flatMap(_.spliced).map { case (bin, done) =>
      bin -> BinSplicer.rowGroupsOf(done)
    }
    val tiered = plan.copy(
      bins = plan.bins.flatMap(bin => split.get(bin).fold(Seq(bin))(_.rewritten)),
      left = plan.left ++ split.values.flatMap(_.left)
    )
    (tiered, counts.toMap)
  }

  private def job: SpliceJob = {
    val files = CountText.of(bins.map(_.files.size).sum, "file")
    rewriter.job(s"OPTIMIZE ${handle.name}: $files in ${CountText.of(tasks.size, "bin")}")
  }
}

/**
 * A bin, split by what becomes of its files.
 *
 * @param spliced the files that are merged without reading their rows
 * @param byRows  those that are merged row by row
 * @param left    those that stay as they are, although they may be small
 */
private[upkeep] final case class BinParts(
    spliced: Option[(Bin, SpliceOutcome.Done)],
    byRows: Option[Bin],
    left: Option[Bin]
) {
  def rewritten: Seq[Bin] = spliced.map(_._1).toSeq ++ byRows
}

private[upkeep] object BinSplicer {

  def rowGroupsOf(done: SpliceOutcome.Done): RowGroupCounts =
    RowGroupCounts(done.rowGroupsBefore.toLong, done.rowGroupsAfter.toLong)

  private def tierOf(bin: Bin, refusal: Refusal): Tier.Rows = Tier.Rows(
    forItsCodec(bin, refusal.reason),
    if (refusal.isMalformed || refusal.isDamaged) RowsCause.Malformed else RowsCause.File
  )

  private def tierOf(bin: Bin, done: SpliceOutcome.Done): Tier = done.tier match {
    case ChunkTier.Copy => Tier.Copy(done.reason)
    case ChunkTier.Recompress => Tier.Recompress(done.reason)
    case ChunkTier.Splice => Tier.Splice(forItsCodec(bin, done.reason))
    case ChunkTier.Gather => ofOrder(bin, done)
    case ChunkTier.Transcode => Tier.Transcode(forItsCodec(bin, done.reason))
  }

  private def ofOrder(bin: Bin, done: SpliceOutcome.Done): Tier = bin.tier match {
    case gather: Tier.Gather => gather.copy(how = done.reason)
    case other => other
  }

  /** Why another tier is needed, after why a file is rewritten at all. */
  private def forItsCodec(bin: Bin, reason: String): String = bin.tier match {
    case Tier.Recompress(why) => s"$why; $reason"
    case _ => reason
  }
}
