package io.deltaupkeep.optimize

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
 * dry run they say what the plan removes, and `numFilesAdded` how many files it would write.
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
    deletionVectorStats: Option[DeletionVectorTotals]
)

/**
 * One bin of the plan and what became of it.
 *
 * @param partition `column=value` pairs, empty where the table is not partitioned
 * @param tier      how it is rewritten, and `reason` why so
 * @param status    `planned` (dry run), `committed`, or `lost`: another writer removed one of its files
 *                  first, so it stays as that writer left it
 */
final case class BinResult(
    partition: String,
    inputFiles: Long,
    inputBytes: Long,
    tier: String,
    reason: String,
    status: String
)

/**
 * The result row of OPTIMIZE.
 *
 * @param path    root of the table
 * @param version of the commit; null in a dry run and where there was nothing to do
 */
final case class OptimizeResult(
    path: String,
    metrics: OptimizeMetrics,
    dryRun: Boolean,
    version: Option[Long],
    bins: Seq[BinResult]
)

object OptimizeResult {

  def planned(path: String, plan: OptimizePlan, now: Long): OptimizeResult = {
    val metrics = totals(plan, plan.bins, Nil, batches = 0, startedAt = now, endedAt = now)
    OptimizeResult(
      path,
      metrics.copy(numFilesAdded = plan.bins.map(plan.outputsOf).sum),
      dryRun = true,
      version = None,
      plan.bins.map(binResult(_, "planned"))
    )
  }

  def executed(
      path: String,
      plan: OptimizePlan,
      commit: CommitOutcome,
      startedAt: Long,
      endedAt: Long
  ): OptimizeResult = {
    val committed = commit.committed.map(_.bin)
    val sizes = commit.committed.flatMap(_.addedSizes)
    val lost = commit.lost.toSet
    OptimizeResult(
      path,
      totals(plan, committed, sizes, commit.version.size, startedAt, endedAt),
      dryRun = false,
      commit.version,
      plan.bins.map(bin => binResult(bin, if (lost.contains(bin)) "lost" else "committed"))
    )
  }

  private def totals(
      plan: OptimizePlan,
      bins: Seq[Bin],
      addedSizes: Seq[Long],
      batches: Int,
      startedAt: Long,
      endedAt: Long
  ): OptimizeMetrics = {
    val removed = bins.flatMap(_.files)
    val vectors = removed.filter(_.deletionVector.nonEmpty)
    OptimizeMetrics(
      numFilesAdded = addedSizes.size,
      numFilesRemoved = removed.size,
      filesAdded = FileSizes.of(addedSizes),
      filesRemoved = FileSizes.of(removed.map(_.sizeInBytes)),
      partitionsOptimized = bins.map(_.partition).distinct.size,
      numBins = bins.size,
      numBatches = batches,
      totalConsideredFiles = plan.considered.size,
      totalFilesSkipped = plan.considered.size - removed.size,
      // Spark's file scan reads the largest files first, whatever order the bin has.
      preserveInsertionOrder = false,
      startTimeMs = startedAt,
      endTimeMs = endedAt,
      deletionVectorStats =
        Option.when(vectors.nonEmpty)(DeletionVectorTotals(vectors.size, vectors.map(_.deletedRows).sum))
    )
  }

  private def binResult(bin: Bin, status: String): BinResult =
    BinResult(bin.partition, bin.files.size, bin.sizeInBytes, bin.tier.name, bin.tier.reason, status)
}
