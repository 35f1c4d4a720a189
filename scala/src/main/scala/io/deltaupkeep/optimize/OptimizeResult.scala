package io.deltaupkeep.optimize

import io.deltaupkeep.CountText

/** Sizes of a set of files, in bytes; the names are those of Delta's own OPTIMIZE. */
final case class FileSizes(
    min: Option[Long],
    max: Option[Long],
    avg: Double,
    totalFiles: Long,
    totalSize: Long
)

object FileSizes {
  def of(sizes: Seq[Long]): FileSizes = {
    val total = sizes.sum
    FileSizes(
      sizes.minOption,
      sizes.maxOption,
      if (sizes.isEmpty) 0d else total.toDouble / sizes.size,
      sizes.size.toLong,
      total
    )
  }
}

/** Deletion vectors that the rewrite made obsolete, and the rows they hid. */
final case class DeletionVectorTotals(numDeletionVectorsRemoved: Long, numDeletionVectorRowsRemoved: Long)

/**
 * Totals of an OPTIMIZE. Names and meanings are those of Delta's OPTIMIZE, so that scripts keep working; in a
 * dry run they say what the plan would remove, and `numFilesAdded` says how many files it would write. Row
 * groups are counted for bins whose footers were read, which the rows tier does not do; null if there are
 * none. `numRowsDeletedMeanwhile` counts rows of new files that other writers deleted while OPTIMIZE ran: deletion
 * vectors hide them.
 */
final case class OptimizeMetrics(
    numFilesAdded: Long,
    numFilesRemoved: Long,
    filesAdded: FileSizes,
    filesRemoved: FileSizes,
    partitionsOptimized: Long,
    numBins: Long,
    numBatches: Long,
    totalConsideredFiles: Long,
    totalFilesSkipped: Long,
    preserveInsertionOrder: Boolean,
    startTimeMs: Long,
    endTimeMs: Long,
    deletionVectorStats: Option[DeletionVectorTotals],
    numRowGroupsBefore: Option[Long],
    numRowGroupsAfter: Option[Long],
    numRowsDeletedMeanwhile: Long,
    tiers: Seq[TierMetrics]
)

/**
 * What one tier did.
 *
 * @param files        in bins of that tier
 * @param bytes        of input that went through it, whatever the tier of the bin
 * @param milliseconds of work by all threads
 */
final case class TierMetrics(tier: String, files: Long, bytes: Long, milliseconds: Long)

/**
 * One bin of the plan and its outcome.
 *
 * @param partition `column=value` pairs; empty if the table is not partitioned
 * @param tier      how it is rewritten, and `reason` says why; it also says how many rows were deleted meanwhile
 * @param status    `planned` (dry run), `committed`, `deferred` to a later run by maxFiles or maxBytes, or
 *                  `lost`: another writer replaced one of its files first, so it stays as that writer left it,
 *                  or `left`: it cannot be spliced, and no other file would go by rows with it
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
 * The result row of OPTIMIZE.
 *
 * @param path     root of the table
 * @param version  of the commit; null in a dry run and if there was nothing to do
 * @param verified whether Spark compared the rows of all new files with those of their inputs before the
 *                 commit
 */
final case class OptimizeResult(
    path: String,
    metrics: OptimizeMetrics,
    dryRun: Boolean,
    version: Option[Long],
    bins: Seq[BinResult],
    verified: Boolean
)

object OptimizeResult {

  /** A dry run; `rowGroups` by bin, as far as footers were read. */
  def planned(
      path: String,
      plan: OptimizePlan,
      rowGroups: Map[Bin, RowGroupCounts],
      now: Long
  ): OptimizeResult = {
    val bins = plan.bins.map(bin => RewrittenBin(bin, Nil, rowGroups.get(bin), Nil))
    val metrics = totals(plan.considered.size.toLong, bins, batches = 0, startedAt = now, endedAt = now)
    OptimizeResult(
      path,
      metrics.copy(numFilesAdded = plan.bins.map(plan.outputsOf).sum),
      dryRun = true,
      version = None,
      bins.map(binResult(_, "planned")) ++ deferredOf(plan) ++ unchanged(plan.left, "left"),
      verified = false
    )
  }

  def executed(
      path: String,
      plan: OptimizePlan,
      commit: CommitOutcome,
      verify: Boolean,
      startedAt: Long,
      endedAt: Long
  ): OptimizeResult = {
    OptimizeResult(
      path,
      totals(plan.considered.size.toLong, commit.committed, commit.versions.size, startedAt, endedAt),
      dryRun = false,
      commit.versions.lastOption,
      commit.committed.map(binResult(_, "committed")) ++ unchanged(commit.lost, "lost") ++ deferredOf(plan) ++
        unchanged(commit.left, "left"),
      verified = verify && commit.versions.nonEmpty
    )
  }

  private def deferredOf(plan: OptimizePlan): Seq[BinResult] = unchanged(plan.deferred, "deferred")

  private def unchanged(bins: Seq[Bin], status: String): Seq[BinResult] =
    bins.map(bin => binResult(RewrittenBin(bin, Nil, None, Nil), status))

  private def totals(
      considered: Long,
      bins: Seq[RewrittenBin],
      batches: Int,
      startedAt: Long,
      endedAt: Long
  ): OptimizeMetrics = {
    val removed = bins.flatMap(_.bin.files)
    val added = bins.flatMap(_.addedSizes)
    val vectors = removed.filter(_.deletionVector.nonEmpty)
    val counted = bins.flatMap(_.rowGroups)
    OptimizeMetrics(
      numFilesAdded = added.size,
      numFilesRemoved = removed.size,
      filesAdded = FileSizes.of(added),
      filesRemoved = FileSizes.of(removed.map(_.sizeInBytes)),
      partitionsOptimized = bins.map(_.bin.partition).distinct.size,
      numBins = bins.size,
      numBatches = batches,
      totalConsideredFiles = considered,
      totalFilesSkipped = considered - removed.size,
      // In the rows tier Spark's file scan reads the largest files first, whatever order the bin has.
      preserveInsertionOrder = bins.nonEmpty && !bins.exists(_.bin.tier.isInstanceOf[Tier.Rows]),
      startTimeMs = startedAt,
      endTimeMs = endedAt,
      deletionVectorStats =
        Option.when(vectors.nonEmpty)(DeletionVectorTotals(vectors.size, vectors.map(_.deletedRows).sum)),
      numRowGroupsBefore = Option.when(counted.nonEmpty)(counted.map(_.before).sum),
      numRowGroupsAfter = Option.when(counted.nonEmpty)(counted.map(_.after).sum),
      numRowsDeletedMeanwhile = bins.map(_.lateRows).sum,
      tiers = tierMetrics(bins)
    )
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

  private def binResult(rewritten: RewrittenBin, status: String): BinResult = {
    val bin = rewritten.bin
    BinResult(
      bin.partition.text,
      bin.files.size,
      bin.sizeInBytes,
      bin.tier.name,
      reasonOf(rewritten),
      status,
      rewritten.rowGroups.map(_.before),
      rewritten.rowGroups.map(_.after)
    )
  }
}
