package io.deltaupkeep.optimize

import scala.annotation.tailrec

/**
 * Decides which files OPTIMIZE rewrites, and which of them together. Pure.
 *
 * Memory is the caller's list of files; a million of them are about 300 MB here and pack in about a second.
 */
object OptimizePlanner {

  /**
   * Compaction: small files, and those heavy with deleted rows, packed by partition up to the target size.
   *
   * @param needsRows why no file of the table can be spliced, if so
   */
  def compact(
      files: Seq[DataFile],
      settings: OptimizeSettings,
      needsRows: Option[String] = None
  ): OptimizePlan = {
    val bins = files
      .filter(file => isSmall(file, settings) || isHeavyWithDeletedRows(file, settings))
      .groupBy(_.partition)
      .flatMap { case (partition, candidates) =>
        FirstFit
          .pack(candidates, settings.targetFileSize)(_.sizeInBytes)
          .map(withoutGiants(_, settings))
          .filter(isWorthRewriting(_, settings))
          .map(bin => Bin(partition, bin.sortBy(insertionOrder), tierOf(bin, needsRows)))
      }
    planOf(Layout.Compact, files, bins, settings)
  }

  /** Z-order: every file, one bin a partition. */
  def zOrder(files: Seq[DataFile], settings: OptimizeSettings, columns: Seq[String]): OptimizePlan = {
    val tier = Tier.Rows("Z-order needs every row")
    val bins = files.groupBy(_.partition).map { case (partition, all) => Bin(partition, all, tier) }
    planOf(Layout.ZOrder(columns), files, bins, settings)
  }

  /** Liquid clustering: the groups are Delta's choice, made from the Z-cubes that its files are tagged with. */
  def cluster(
      files: Seq[DataFile],
      groups: Seq[Seq[DataFile]],
      settings: OptimizeSettings,
      layout: Layout.Cluster
  ): OptimizePlan = {
    val tier = Tier.Rows("clustering needs every row")
    val bins = groups.filter(_.nonEmpty).map(Bin("", _, tier))
    planOf(layout, files, bins, settings)
  }

  private def isSmall(file: DataFile, settings: OptimizeSettings): Boolean =
    file.sizeInBytes < settings.minFileSize

  private def isHeavyWithDeletedRows(file: DataFile, settings: OptimizeSettings): Boolean =
    file.deletedRowsRatio > settings.maxDeletedRowsRatio

  /**
   * Leaves out the largest file as long as all others together are small beside it: it would be rewritten for
   * next to nothing. Example: 900 MB and 1 KB; the 1 KB waits until others have made it 112 MB. So each byte is
   * rewritten a number of times that grows with the logarithm of the table, not with its appends.
   */
  private def withoutGiants(bin: Seq[DataFile], settings: OptimizeSettings): Seq[DataFile] = {
    @tailrec
    def drop(ascending: List[DataFile], others: Long): List[DataFile] = ascending match {
      case largest :: smaller
          if smaller.nonEmpty && (others - largest.sizeInBytes) * LeastShare < largest.sizeInBytes =>
        drop(smaller, others - largest.sizeInBytes)
      case kept => kept
    }
    val (heavy, light) = bin.partition(isHeavyWithDeletedRows(_, settings))
    val descending = light.sortBy(-_.sizeInBytes).toList
    if (heavy.nonEmpty) bin else drop(descending, descending.map(_.sizeInBytes).sum)
  }

  /** The others hold an eighth of the largest file at least. */
  private val LeastShare = 8

  /**
   * Files of an earlier run with the same target stay until a new one joins them: their sizes shrank in
   * that run, and packing them again and again would rewrite the table for nothing.
   */
  private def isWorthRewriting(bin: Seq[DataFile], settings: OptimizeSettings): Boolean =
    bin.exists(isHeavyWithDeletedRows(_, settings)) ||
      bin.size > 1 && hasEnough(bin, settings) && bin.exists(
        !_.optimizedFor.contains(settings.targetFileSize)
      )

  private def hasEnough(bin: Seq[DataFile], settings: OptimizeSettings): Boolean =
    bin.size >= settings.minInputFiles || bin.iterator.map(_.sizeInBytes).sum >= settings.targetFileSize

  /** The tier as far as the log tells; the footers may ask for more, or allow less. */
  private def tierOf(bin: Seq[DataFile], needsRows: Option[String]): Tier =
    if (bin.exists(_.deletionVector.nonEmpty)) Tier.Rows("a file has a deletion vector")
    else needsRows.fold[Tier](Tier.Splice("small row groups are merged"))(Tier.Rows(_))

  private def insertionOrder(file: DataFile): (Long, String) = (file.modificationTime, file.path)

  private def planOf(
      layout: Layout,
      files: Seq[DataFile],
      bins: Iterable[Bin],
      settings: OptimizeSettings
  ): OptimizePlan = {
    val unbounded = OptimizePlan(layout, settings.targetFileSize, files, Nil)
    BoundedRun.of(unbounded.copy(bins = unbounded.largestFirst(bins.toSeq)), settings)
  }
}
