package io.deltaupkeep.plan.compact

import io.deltaupkeep.{CountText, FileTotal}

/** What happened to a bin. */
sealed abstract class BinStatus(val name: String) extends Serializable

object BinStatus {

  /** Would be rewritten: a dry run. */
  case object Planned extends BinStatus("planned")

  case object Committed extends BinStatus("committed")

  /** Left to a later run by maxFiles or maxBytes; in a dry run also to a later part of the run. */
  case object Deferred extends BinStatus("deferred")

  /** Another writer changed one of its files first, in a way that cannot be carried over. */
  case object Lost extends BinStatus("lost")

  /**
   * It stays as it is: it cannot be spliced and no other file would be rewritten with it, or Spark cannot read
   * it.
   */
  case object Left extends BinStatus("left")
}

/**
 * One bin of the plan and its outcome.
 *
 * @param partition `column=value` pairs; empty if the table is not partitioned
 * @param tier      how it is rewritten
 * @param reason    why it has this tier, and how many of its rows were deleted meanwhile
 * @param status    name of a [[BinStatus]]
 */
final case class BinResult(
    partition: String,
    inputFiles: Long,
    inputBytes: Long,
    tier: String,
    reason: String,
    status: String,
    rowGroupsBefore: Option[Long],
    rowGroupsAfter: Option[Long]
)

/**
 * How well a column separates files that are put in order by it, estimated.
 *
 * @param openedBefore percent of the files that a query for one value opens at most, on average
 * @param openedAfter  the same after the plan was run
 */
final case class KeyForecast(column: String, openedBefore: Double, openedAfter: Double)

/**
 * The result row of OPTIMIZE.
 *
 * @param path     root of the table
 * @param version  of the commit; null in a dry run and if there was nothing to do
 * @param verified whether Spark compared the rows of all new files with those of their inputs before the
 *                 commit
 * @param clustering for each key in a dry run that puts rows in order
 */
final case class OptimizeResult(
    path: String,
    metrics: OptimizeMetrics,
    dryRun: Boolean,
    version: Option[Long],
    bins: Seq[BinResult],
    verified: Boolean,
    clustering: Seq[KeyForecast] = Nil
) {

  /** That of a compaction that goes on with other files of the table. */
  def ++(later: OptimizeResult): OptimizeResult = {
    val all = bins ++ later.bins
    val partitions = all.filter(_.status == BinStatus.Committed.name).map(_.partition).distinct.size
    copy(
      metrics = (metrics ++ later.metrics).copy(partitionsOptimized = partitions.toLong),
      version = later.version.orElse(version),
      bins = all,
      verified = verified || later.verified
    )
  }

  /** The same, of a run that ended before some files were planned. */
  def leaving(files: FileTotal, why: String): OptimizeResult =
    copy(bins = bins ++ OptimizeResult.unplanned(files, why))
}

object OptimizeResult {

  /** A dry run; `rowGroups` by bin, where footers were read. */
  def planned(
      scope: OptimizeScope,
      plan: OptimizePlan,
      rowGroups: Map[Bin, RowGroupCounts],
      clustering: Seq[KeyForecast],
      now: Long
  ): OptimizeResult = {
    val bins = plan.bins.map(bin => RewrittenBin(bin, Nil, rowGroups.get(bin), Nil))
    val metrics = totals(scope, plan, bins, batches = 0, startedAt = now, endedAt = now)
    OptimizeResult(
      scope.path,
      metrics.copy(numFilesAdded = plan.bins.map(plan.outputsOf).sum),
      dryRun = true,
      version = None,
      bins.map(binResult(_, BinStatus.Planned)) ++ deferredOf(plan) ++ unchanged(plan.left, BinStatus.Left) ++
        unplanned(plan.waiting, "they are planned after the other bins are committed"),
      verified = false,
      clustering
    )
  }

  /** `batches` as this Delta counts them. */
  def executed(
      scope: OptimizeScope,
      plan: OptimizePlan,
      commit: CommitOutcome,
      batches: Int,
      verify: Boolean,
      startedAt: Long,
      endedAt: Long
  ): OptimizeResult = {
    OptimizeResult(
      scope.path,
      totals(scope, plan, commit.committed, batches, startedAt, endedAt),
      dryRun = false,
      commit.versions.lastOption,
      commit.committed.map(binResult(_, BinStatus.Committed)) ++ unchanged(
        commit.lost,
        BinStatus.Lost
      ) ++ deferredOf(plan) ++
        unchanged(plan.left ++ commit.left, BinStatus.Left),
      verified = verify && commit.versions.nonEmpty
    )
  }

  private def deferredOf(plan: OptimizePlan): Seq[BinResult] = unchanged(plan.deferred, BinStatus.Deferred)

  private def unplanned(files: FileTotal, what: String): Option[BinResult] = Option.when(files.files > 0) {
    val why = s"too many small files to plan at once; $what"
    BinResult("", files.files, files.bytes, tier = "", why, BinStatus.Deferred.name, None, None)
  }

  private def unchanged(bins: Seq[Bin], status: BinStatus): Seq[BinResult] =
    bins.map(bin => binResult(RewrittenBin(bin, Nil, None, Nil), status))

  private def totals(
      scope: OptimizeScope,
      plan: OptimizePlan,
      bins: Seq[RewrittenBin],
      batches: Int,
      startedAt: Long,
      endedAt: Long
  ): OptimizeMetrics = {
    val removed = bins.flatMap(_.bin.files)
    val added = bins.flatMap(_.addedSizes)
    val vectors = removed.filter(_.deletionVector.nonEmpty)
    val counted = bins.flatMap(_.rowGroups)
    val partitions = bins.map(_.bin.partition).distinct.size.toLong
    OptimizeMetrics(
      numFilesAdded = added.size,
      numFilesRemoved = removed.size,
      filesAdded = FileSizes.of(added),
      filesRemoved = FileSizes.of(removed.map(_.sizeInBytes)),
      partitionsOptimized = partitions,
      zOrderStats = Option.when(scope.isZOrder)(zOrderStats(plan, bins)),
      clusteringStats = scope.inputCubes.map(clusteringStats(_, orderedOf(bins))),
      numBins = bins.size,
      numBatches = batches,
      totalConsideredFiles = plan.considered,
      totalFilesSkipped = plan.considered - removed.size,
      // In the rows tier Spark's file scan reads the largest files first, whatever order the bin has.
      preserveInsertionOrder = bins.nonEmpty && !bins.exists(_.bin.tier.isInstanceOf[Tier.Rows]),
      numFilesSkippedToReduceWriteAmplification = 0,
      numBytesSkippedToReduceWriteAmplification = 0,
      startTimeMs = startedAt,
      endTimeMs = endedAt,
      totalClusterParallelism = scope.parallelism,
      totalScheduledTasks = 0,
      autoCompactParallelismStats = None,
      deletionVectorStats =
        Option.when(vectors.nonEmpty)(DeletionVectorTotals(vectors.size, vectors.map(_.deletedRows).sum)),
      numTableColumns = scope.tableColumns,
      numTableColumnsWithStats = scope.columnsWithStats,
      numRowGroupsBefore = Option.when(counted.nonEmpty)(counted.map(_.before).sum),
      numRowGroupsAfter = Option.when(counted.nonEmpty)(counted.map(_.after).sum),
      numRowsDeletedMeanwhile = bins.map(_.lateRows).sum,
      tiers = tierMetrics(bins)
    )
  }

  /** The bins that became Z-cubes; a file that was rewritten by itself kept its place. */
  private def orderedOf(bins: Seq[RewrittenBin]): Seq[RewrittenBin] =
    bins.filter(_.bin.tags == NewFileTags.TargetSize)

  private def zOrderStats(plan: OptimizePlan, bins: Seq[RewrittenBin]): ZOrderStats = {
    val ordered = orderedOf(bins)
    val removed = ordered.flatMap(_.bin.files)
    val (inCubes, others) = removed.partition(_.cube.nonEmpty)
    def total(files: Seq[DataFile]) = ZOrderFileStats(files.size, files.map(_.sizeInBytes).sum)
    ZOrderStats(
      if (removed.size == plan.considered) "all" else "incremental",
      total(inCubes),
      total(others),
      inCubes.flatMap(_.cube).distinct.size,
      total(removed),
      ordered.size,
      None
    )
  }

  /** @param bins those that were put in another order */
  private def clusteringStats(input: InputCubes, bins: Seq[RewrittenBin]): ClusteringStats = {
    val removed = bins.flatMap(_.bin.files)
    val merged = ClusteringFileStats(removed.size, removed.map(_.sizeInBytes).sum)
    ClusteringStats(input.inCubes, input.others, input.cubes, merged, bins.size)
  }

  private def tierMetrics(bins: Seq[RewrittenBin]): Seq[TierMetrics] =
    Tier.names.flatMap { name =>
      val files = bins.filter(_.bin.tier.name == name).map(_.bin.files.size.toLong).sum
      val work = bins.flatMap(_.work).filter(_.tier == name)
      Option.when(files > 0 || work.nonEmpty) {
        TierMetrics(name, files, work.map(_.bytes).sum, work.map(_.milliseconds).sum)
      }
    }

  private def reasonOf(rewritten: RewrittenBin): String = {
    val late = Option.when(rewritten.lateRows > 0) {
      s"; deleted meanwhile: ${CountText.of(rewritten.lateRows, "row")}"
    }
    val doubt = rewritten.doubt.map(why => s"; all rows were compared and are the same. $why")
    rewritten.bin.tier.reason + late.getOrElse("") + doubt.getOrElse("")
  }

  private val LostReason = "; another writer changed its files meanwhile, so they stay"

  private def binResult(rewritten: RewrittenBin, status: BinStatus): BinResult = {
    val bin = rewritten.bin
    BinResult(
      bin.partition.text,
      bin.files.size,
      bin.sizeInBytes,
      bin.tier.name,
      reasonOf(rewritten) + (if (status == BinStatus.Lost) LostReason else ""),
      status.name,
      rewritten.rowGroups.map(_.before),
      rewritten.rowGroups.map(_.after)
    )
  }
}
