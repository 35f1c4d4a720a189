package io.deltaupkeep.plan.compact

/**
 * Decides which files OPTIMIZE rewrites, and which of them together. Pure.
 *
 * The caller's list of files is in memory. A million files take about 300 MB and are packed in about a
 * second.
 */
object OptimizePlanner {

  /**
   * Compaction: packs small files, and files with too many deleted rows, by partition up to the target size.
   *
   * @param needsRows why no file of the table can be spliced, or None
   */
  def compact(
      files: Seq[DataFile],
      settings: OptimizeSettings,
      needsRows: Option[Tier.Rows] = None
  ): OptimizePlan = {
    val rules = BinRules(settings)
    val tier = tierOf(needsRows)
    val bins = files.filter(rules.isCandidate).groupBy(_.partition).values.flatMap { candidates =>
      BinPacking(candidates, rules).map(bin => Bin(bin.sortBy(insertionOrder), tier))
    }
    planOf(Layout.Compact, files, bins, settings)
  }

  /**
   * Rewrites the chosen files, packed by partition up to the target size.
   *
   * @param needsRows why no file of the table can be spliced, or None
   */
  def purge(
      files: Seq[DataFile],
      chosen: Set[DataFile.Id],
      settings: OptimizeSettings,
      layout: Layout.Purge,
      needsRows: Option[Tier.Rows] = None
  ): OptimizePlan = {
    val bins = files.filter(file => chosen(file.id)).groupBy(_.partition).values.flatMap { some =>
      if (layout.oneByOne) some.map(Seq(_)) else FirstFit.pack(some, settings.targetFileSize)(_.sizeInBytes)
    }
    planOf(layout, files, bins.map(bin => Bin(bin.sortBy(insertionOrder), tierOf(needsRows))), settings)
  }

  /** The tier according to the log. The footers may require a more expensive one, or allow a cheaper one. */
  private def tierOf(needsRows: Option[Tier.Rows]): Tier =
    needsRows.getOrElse(Tier.Splice("small row groups are merged"))

  /** Z-order: every file, one bin per partition. */
  def zOrder(files: Seq[DataFile], settings: OptimizeSettings, columns: Seq[String]): OptimizePlan = {
    val tier = Tier.Rows("Z-order needs every row", RowsCause.Order)
    val bins = files.groupBy(_.partition).values.map(Bin(_, tier))
    planOf(Layout.ZOrder(columns), files, bins, settings)
  }

  /** Liquid clustering: Delta chooses the groups by the Z-cubes in the tags of the files. */
  def cluster(
      files: Seq[DataFile],
      groups: Seq[Seq[DataFile]],
      settings: OptimizeSettings,
      layout: Layout.Cluster
  ): OptimizePlan = {
    val tier = Tier.Rows("clustering needs every row", RowsCause.Order)
    val bins = groups.filter(_.nonEmpty).map(Bin(_, tier))
    planOf(layout, files, bins, settings)
  }

  private def insertionOrder(file: DataFile): (Long, String) = (file.modificationTime, file.path)

  private def planOf(
      layout: Layout,
      files: Seq[DataFile],
      bins: Iterable[Bin],
      settings: OptimizeSettings
  ): OptimizePlan = {
    val unbounded = OptimizePlan(layout, settings.targetFileSize, files.size, Nil)
    new BoundedRun(settings).of(unbounded.copy(bins = unbounded.largestFirst(bins.toSeq)))
  }
}
