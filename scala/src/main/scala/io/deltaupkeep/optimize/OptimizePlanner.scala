package io.deltaupkeep.optimize

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
    val rules = BinRules(settings)
    val bins = files.filter(rules.isCandidate).groupBy(_.partition).values.flatMap { candidates =>
      BinPacking(candidates, rules).map(bin => Bin(bin.sortBy(insertionOrder), tierOf(bin, needsRows)))
    }
    val plan = planOf(Layout.Compact, files, bins, settings)
    // A part of a bin may lack the deletion vector that made all of it need rows.
    def tiered(bin: Bin) = bin.copy(tier = tierOf(bin.files, needsRows))
    plan.copy(bins = plan.bins.map(tiered), deferred = plan.deferred.map(tiered))
  }

  /** Z-order: every file, one bin a partition. */
  def zOrder(files: Seq[DataFile], settings: OptimizeSettings, columns: Seq[String]): OptimizePlan = {
    val tier = Tier.Rows("Z-order needs every row")
    val bins = files.groupBy(_.partition).values.map(Bin(_, tier))
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
    val bins = groups.filter(_.nonEmpty).map(Bin(_, tier))
    planOf(layout, files, bins, settings)
  }

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
    new BoundedRun(settings).of(unbounded.copy(bins = unbounded.largestFirst(bins.toSeq)))
  }
}
