package io.deltaupkeep.plan.compact

import io.deltaupkeep.parquet.encoding.Compression
import io.deltaupkeep.parquet.gather.Division

/**
 * Decides which files OPTIMIZE rewrites, and which of them together. Pure.
 *
 * The caller's list of files is in memory. A million files take about 300 MB and are packed in about a
 * second.
 */
object OptimizePlanner {

  /**
   * Compaction: packs small files, and files with too many deleted rows, by partition up to the target size. A file
   * with another codec than was asked for is rewritten by itself.
   *
   * @param needsRows why no file of the table can be spliced, or None
   * @param codecs    of the files that are not packed
   */
  def compact(
      files: Seq[DataFile],
      settings: OptimizeSettings,
      needsRows: Option[Tier.Rows] = None,
      codecs: CodecFindings = CodecFindings.none
  ): OptimizePlan = {
    val rules = BinRules.of(files, settings)
    val tier = tierOf(needsRows)
    val twice = NamedTwice.of(files)
    val (inPlace, packed) = twice.others.filter(rules.isCandidate).partition(rules.keepsPlace)
    val bins = packed.groupBy(_.partition).values.flatMap { candidates =>
      BinPacking(candidates, rules).map(bin => Bin(DataFile.inOrder(bin), tier))
    } ++ inPlace.map(alone(_, tier))
    val recompressed = binsOf(twice.others, codecs, settings, needsRows) { file =>
      if (rules.isCandidate(file)) NewFileTags.OfInput else NewFileTags.OfLargeInput
    }
    planOf(Layout.Compact, files, bins ++ recompressed, settings, twice.left ++ leftOf(twice.others, codecs))
  }

  /** Which files a compaction may choose, so that the others need not be known. */
  def mayCompact(settings: OptimizeSettings): DataFile => Boolean =
    if (settings.rewritesCodecs && settings.compression.nonEmpty) _ => true
    else {
      val rules = BinRules(settings)
      // Which Z-cubes are large is known by all of their files.
      file => file.cube.nonEmpty || rules.isCandidate(file)
    }

  /** Files that are rewritten for their codec, each by itself. */
  private def binsOf(
      files: Seq[DataFile],
      codecs: CodecFindings,
      settings: OptimizeSettings,
      needsRows: Option[Tier.Rows]
  )(tags: DataFile => NewFileTags): Seq[Bin] =
    for {
      file <- files
      others <- codecs.others.get(file.id)
      asked <- settings.compression
    } yield {
      val why = Compression.difference(others, asked.codec)
      val tier =
        needsRows.fold[Tier](Tier.Recompress(why))(rows => rows.copy(reason = s"$why; ${rows.reason}"))
      Bin(Seq(file), tier, tags(file), mayStay = true)
    }

  private def leftOf(files: Seq[DataFile], codecs: CodecFindings): Seq[Bin] =
    for (file <- files; why <- codecs.unknown.get(file.id))
      yield Bin(Seq(file), Tier.Rows(why, RowsCause.File))

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
    val twice = NamedTwice.of(files)
    val tier = tierOf(needsRows)
    val (inPlace, packed) = twice.others.filter(file => chosen(file.id)).partition { file =>
      layout.oneByOne || file.cube.nonEmpty
    }
    val bins = packed.groupBy(_.partition).values.flatMap { some =>
      FirstFit.pack(some, settings.targetFileSize)(_.sizeInBytes).map(bin =>
        Bin(DataFile.inOrder(bin), tier)
      )
    } ++ inPlace.map(alone(_, tier))
    planOf(layout, files, bins, settings, twice.left)
  }

  /** The tier according to the log. The footers may require a more expensive one, or allow a cheaper one. */
  private def tierOf(needsRows: Option[Tier.Rows]): Tier =
    needsRows.getOrElse(Tier.Splice("small row groups are merged"))

  /**
   * Z-order and clustering: the groups are put in order. Of the other files, one that is in order and has too many deleted
   * rows, or another codec than was asked for, is rewritten by itself and keeps its place.
   *
   * @param isInOrder whether a file was put in the same order before
   * @param needsRows why no file of the table can be spliced, or None
   * @param codecs    of the files that are in no group
   */
  def ordered(
      files: Seq[DataFile],
      groups: Seq[ClusterGroup],
      isInOrder: DataFile => Boolean,
      settings: OptimizeSettings,
      layout: Layout,
      needsRows: Option[Tier.Rows] = None,
      codecs: CodecFindings = CodecFindings.none
  ): OptimizePlan = {
    val rules = BinRules(settings)
    val twice = NamedTwice.of(files)
    val bins = groups
      .map(group => group.copy(files = group.files.filterNot(twice.has)))
      .filter(_.files.nonEmpty)
      .map(bin(_, settings, needsRows))
    val inBins = bins.iterator.flatMap(_.files).map(_.id).toSet
    val (heavy, others) =
      twice.others.filterNot(file => inBins(file.id)).partition(file =>
        rules.isHeavy(file) && isInOrder(file)
      )
    val purged = heavy.map(alone(_, tierOf(needsRows)))
    val recompressed = binsOf(others, codecs, settings, needsRows)(_ => NewFileTags.OfInput)
    planOf(layout, files, bins ++ purged ++ recompressed, settings, twice.left ++ leftOf(others, codecs))
  }

  /** A file that is rewritten by itself and keeps its place. */
  private def alone(file: DataFile, tier: Tier): Bin = Bin(Seq(file), tier, NewFileTags.OfInput)

  /** A bin whose rows get another order. */
  private def bin(group: ClusterGroup, settings: OptimizeSettings, needsRows: Option[Tier.Rows]): Bin = {
    val division = Division.of(DataFile.bytesOf(group.files), settings.clusterBytes)
    val tier = needsRows.getOrElse(Tier.Gather(group.why, Division.told(division)))
    // Each task has a file at least.
    val fileBytes =
      division.filter(_ => needsRows.isEmpty).fold(group.fileBytes)(_.ofTask.min(group.fileBytes))
    Bin(DataFile.inOrder(group.files), tier, fileBytes = Some(fileBytes))
  }

  private def planOf(
      layout: Layout,
      files: Seq[DataFile],
      bins: Iterable[Bin],
      settings: OptimizeSettings,
      left: Seq[Bin]
  ): OptimizePlan = {
    val unbounded = OptimizePlan(
      layout,
      settings.targetFileSize,
      files.size,
      Nil,
      left = left,
      compression = settings.compression
    )
    new BoundedRun(settings).of(unbounded.copy(bins = unbounded.largestFirst(bins.toSeq)))
  }
}

/**
 * Files that are put in order together.
 *
 * @param why       in words
 * @param fileBytes size of the new files
 */
final case class ClusterGroup(files: Seq[DataFile], why: String, fileBytes: Long)

object ClusterGroup {

  /** For those who ask for all files, in order or not. */
  def all(files: Seq[DataFile], settings: OptimizeSettings): ClusterGroup =
    ClusterGroup(files, "all files are put in order again", settings.targetFileSize)
}

/**
 * Files that a damaged log names more than once, with other deletion vectors. Their rows are read as often. Delta
 * commits nothing about two of them together, so they stay as they are.
 *
 * @param others the files that are named once
 */
private[deltaupkeep] final case class NamedTwice(paths: Set[String], others: Seq[DataFile], left: Seq[Bin]) {
  def has(file: DataFile): Boolean = paths(file.path)
}

private[deltaupkeep] object NamedTwice {

  def of(files: Seq[DataFile]): NamedTwice = {
    // The deletion vector is all that two entries of a path can differ in.
    val withVector = files.iterator.filter(_.deletionVector.nonEmpty).map(_.path).toSet
    val entries =
      if (withVector.isEmpty) Map.empty[String, Seq[DataFile]]
      else files.filter(file => withVector(file.path)).groupBy(_.path).filter(_._2.size > 1)
    if (entries.isEmpty) NamedTwice(Set.empty, files, Nil)
    else {
      val left = entries.toSeq.sortBy(_._1).flatMap(_._2).map(file =>
        Bin(Seq(file), Tier.Rows(Why, RowsCause.Malformed))
      )
      NamedTwice(entries.keySet, files.filterNot(file => entries.contains(file.path)), left)
    }
  }

  private val Why =
    "the log names the file twice, with different deletion vectors, so its rows are read twice; " +
      "RESTORE the table to a version before the damage"
}
