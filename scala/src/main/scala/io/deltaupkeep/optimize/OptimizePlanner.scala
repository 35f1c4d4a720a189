package io.deltaupkeep.optimize

import io.deltaupkeep.{OptionEntry, Options}

/**
 * How OPTIMIZE chooses and packs files.
 *
 * @param targetFileSize      bytes that a bin may hold, and so about the size of a new file
 * @param minFileSize         a smaller file is rewritten, in bytes
 * @param maxDeletedRowsRatio a file with a larger share of deleted rows is rewritten
 */
final case class OptimizeSettings(targetFileSize: Long, minFileSize: Long, maxDeletedRowsRatio: Double)

object OptimizeSettings {
  val TargetFileSize: OptionEntry[Long] = OptionEntry.bytes(
    "targetFileSize",
    "Size that new files aim at, in bytes. Default: the table property delta.targetFileSize, then " +
      "spark.databricks.delta.optimize.maxFileSize (1 GiB)."
  )
  val MinFileSize: OptionEntry[Long] = OptionEntry.bytes(
    "minFileSize",
    "Files smaller than this are rewritten, in bytes. Default: the smaller of the target size and " +
      "spark.databricks.delta.optimize.minFileSize (1 GiB)."
  )
  val MaxDeletedRowsRatio: OptionEntry[Double] = OptionEntry.ratio(
    "maxDeletedRowsRatio",
    "Files with a larger share of deleted rows are rewritten. Default: " +
      "spark.databricks.delta.optimize.maxDeletedRowsRatio (0.05)."
  )
  val entries: Seq[OptionEntry[_]] = Seq(TargetFileSize, MinFileSize, MaxDeletedRowsRatio)

  /** What the user asks for, over what table and session say. */
  def apply(options: Options, defaults: OptimizeSettings): OptimizeSettings = {
    val target = options.get(TargetFileSize).getOrElse(defaults.targetFileSize)
    OptimizeSettings(
      target,
      options.get(MinFileSize).getOrElse(math.min(target, defaults.minFileSize)),
      options.get(MaxDeletedRowsRatio).getOrElse(defaults.maxDeletedRowsRatio)
    )
  }
}

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
          .filter(isWorthRewriting(_, settings))
          .map(bin => Bin(partition, bin.sortBy(insertionOrder), tierOf(bin, needsRows)))
      }
    OptimizePlan(Layout.Compact, settings.targetFileSize, files, largestFirst(bins))
  }

  /** Z-order: every file, one bin a partition. */
  def zOrder(files: Seq[DataFile], settings: OptimizeSettings, columns: Seq[String]): OptimizePlan = {
    val tier = Tier.Rows("Z-order needs every row")
    val bins = files.groupBy(_.partition).map { case (partition, all) => Bin(partition, all, tier) }
    OptimizePlan(Layout.ZOrder(columns), settings.targetFileSize, files, largestFirst(bins))
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
    OptimizePlan(layout, settings.targetFileSize, files, largestFirst(bins))
  }

  private def isSmall(file: DataFile, settings: OptimizeSettings): Boolean =
    file.sizeInBytes < settings.minFileSize

  private def isHeavyWithDeletedRows(file: DataFile, settings: OptimizeSettings): Boolean =
    file.deletedRowsRatio > settings.maxDeletedRowsRatio

  /**
   * Files of an earlier run with the same target stay until a new one joins them: their sizes shrank in
   * that run, and packing them again and again would rewrite the table for nothing.
   */
  private def isWorthRewriting(bin: Seq[DataFile], settings: OptimizeSettings): Boolean =
    bin.exists(isHeavyWithDeletedRows(_, settings)) ||
      bin.size > 1 && bin.exists(!_.optimizedFor.contains(settings.targetFileSize))

  /** The tier as far as the log tells; the footers may ask for more, or allow less. */
  private def tierOf(bin: Seq[DataFile], needsRows: Option[String]): Tier =
    if (bin.exists(_.deletionVector.nonEmpty)) Tier.Rows("a file has a deletion vector")
    else needsRows.fold[Tier](Tier.Splice("small row groups are merged"))(Tier.Rows(_))

  private def insertionOrder(file: DataFile): (Long, String) = (file.modificationTime, file.path)

  private def largestFirst(bins: Iterable[Bin]): Seq[Bin] =
    bins.toSeq.sortBy(bin => (-bin.sizeInBytes, bin.partition))
}
