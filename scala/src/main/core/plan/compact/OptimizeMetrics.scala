package io.deltaupkeep.plan.compact

/** Sizes of a set of files, in bytes; the names are those of Delta's own OPTIMIZE. */
final case class FileSizes(
    min: Option[Long],
    max: Option[Long],
    avg: Double,
    totalFiles: Long,
    totalSize: Long
) {
  private[compact] def ++(other: FileSizes): FileSizes = {
    val (files, bytes) = (totalFiles + other.totalFiles, totalSize + other.totalSize)
    FileSizes(
      (min ++ other.min).minOption,
      (max ++ other.max).maxOption,
      if (files == 0) 0d else bytes.toDouble / files,
      files,
      bytes
    )
  }
}

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
final case class DeletionVectorTotals(numDeletionVectorsRemoved: Long, numDeletionVectorRowsRemoved: Long) {
  private[compact] def ++(other: DeletionVectorTotals): DeletionVectorTotals = DeletionVectorTotals(
    numDeletionVectorsRemoved + other.numDeletionVectorsRemoved,
    numDeletionVectorRowsRemoved + other.numDeletionVectorRowsRemoved
  )
}

final case class ZOrderFileStats(num: Long, size: Long)

/** Filled as by Delta's ZORDER BY, which takes every file of a partition. */
final case class ZOrderStats(
    strategyName: String,
    inputCubeFiles: ZOrderFileStats,
    inputOtherFiles: ZOrderFileStats,
    inputNumCubes: Long,
    mergedFiles: ZOrderFileStats,
    numOutputCubes: Long,
    mergedNumCubes: Option[Long]
)

final case class ClusteringFileStats(numFiles: Long, size: Long)

/** Files of a clustered table: those already clustered, the others, and those that were rewritten. */
final case class ClusteringStats(
    inputZCubeFiles: ClusteringFileStats,
    inputOtherFiles: ClusteringFileStats,
    inputNumZCubes: Long,
    mergedFiles: ClusteringFileStats,
    numOutputZCubes: Long
)

/** Only Delta's auto compaction has these numbers. */
final case class ParallelismMetrics(
    maxClusterActiveParallelism: Option[Long],
    minClusterActiveParallelism: Option[Long],
    maxSessionActiveParallelism: Option[Long],
    minSessionActiveParallelism: Option[Long]
)

/**
 * Totals of an OPTIMIZE. Names and meanings are those of Delta's OPTIMIZE, so that scripts keep working. In a
 * dry run the totals say what the plan would remove, and `numFilesAdded` says how many files it would write. Row
 * groups are counted for bins whose footers were read, so not for the rows tier; null if there are no such bins.
 * `numRowsDeletedMeanwhile` counts rows of new files that other writers deleted while OPTIMIZE ran; deletion
 * vectors hide them.
 */
final case class OptimizeMetrics(
    numFilesAdded: Long,
    numFilesRemoved: Long,
    filesAdded: FileSizes,
    filesRemoved: FileSizes,
    partitionsOptimized: Long,
    zOrderStats: Option[ZOrderStats],
    clusteringStats: Option[ClusteringStats],
    numBins: Long,
    numBatches: Long,
    totalConsideredFiles: Long,
    totalFilesSkipped: Long,
    preserveInsertionOrder: Boolean,
    numFilesSkippedToReduceWriteAmplification: Long,
    numBytesSkippedToReduceWriteAmplification: Long,
    startTimeMs: Long,
    endTimeMs: Long,
    totalClusterParallelism: Long,
    totalScheduledTasks: Long,
    autoCompactParallelismStats: Option[ParallelismMetrics],
    deletionVectorStats: Option[DeletionVectorTotals],
    numTableColumns: Long,
    numTableColumnsWithStats: Long,
    numRowGroupsBefore: Option[Long],
    numRowGroupsAfter: Option[Long],
    numRowsDeletedMeanwhile: Long,
    tiers: Seq[TierMetrics]
) {

  /** Those of a compaction that goes on with other files of the table. */
  private[compact] def ++(later: OptimizeMetrics): OptimizeMetrics = {
    def sum(one: Option[Long], other: Option[Long]) = (one ++ other).reduceOption(_ + _)
    val removed = numFilesRemoved + later.numFilesRemoved
    copy(
      numFilesAdded = numFilesAdded + later.numFilesAdded,
      numFilesRemoved = removed,
      filesAdded = filesAdded ++ later.filesAdded,
      filesRemoved = filesRemoved ++ later.filesRemoved,
      partitionsOptimized = partitionsOptimized + later.partitionsOptimized,
      numBins = numBins + later.numBins,
      numBatches = numBatches + later.numBatches,
      totalFilesSkipped = math.max(0, totalConsideredFiles - removed),
      preserveInsertionOrder = Seq(this, later).filter(_.numBins > 0).map(_.preserveInsertionOrder) match {
        case Seq() => false
        case some => some.forall(identity)
      },
      endTimeMs = later.endTimeMs,
      deletionVectorStats = (deletionVectorStats ++ later.deletionVectorStats).reduceOption(_ ++ _),
      numRowGroupsBefore = sum(numRowGroupsBefore, later.numRowGroupsBefore),
      numRowGroupsAfter = sum(numRowGroupsAfter, later.numRowGroupsAfter),
      numRowsDeletedMeanwhile = numRowsDeletedMeanwhile + later.numRowsDeletedMeanwhile,
      tiers = Tier.names.flatMap(name => (tiers ++ later.tiers).filter(_.tier == name).reduceOption(_ ++ _))
    )
  }
}

/**
 * What one tier did.
 *
 * @param files        in bins of that tier
 * @param bytes        input bytes that went through this tier, even in bins of another tier
 * @param milliseconds of work by all threads
 */
final case class TierMetrics(tier: String, files: Long, bytes: Long, milliseconds: Long) {
  private[compact] def ++(other: TierMetrics): TierMetrics =
    TierMetrics(tier, files + other.files, bytes + other.bytes, milliseconds + other.milliseconds)
}

/**
 * The table and the session of an OPTIMIZE, as its metrics show them.
 *
 * @param parallelism tasks that the session runs at once
 * @param isZOrder    whether whole partitions are put in order
 * @param inputCubes  if the files are to be clustered
 */
final case class OptimizeScope(
    path: String,
    parallelism: Long,
    tableColumns: Long,
    columnsWithStats: Long,
    isZOrder: Boolean,
    inputCubes: Option[InputCubes]
)

/** Files that are clustered already, in how many Z-cubes, and files that are not. */
final case class InputCubes(inCubes: ClusteringFileStats, cubes: Long, others: ClusteringFileStats)
