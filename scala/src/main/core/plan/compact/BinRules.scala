package io.deltaupkeep.plan.compact

import scala.annotation.tailrec

/**
 * Decides which files are worth rewriting, and which of them together. Pure.
 *
 * @param largeCubes ids of Z-cubes that are not small: their files belong together, however small they are
 */
private[deltaupkeep] final case class BinRules(
    settings: OptimizeSettings,
    largeCubes: Set[String] = Set.empty
) {
  import BinRules._

  def targetFileSize: Long = settings.targetFileSize

  /** Whether a file is small or has too many deleted rows. */
  def isCandidate(file: DataFile): Boolean = isSmall(file) || isHeavy(file)

  /** Merging the files of a Z-cube would undo the work of ZORDER BY, unless they are crumbs. */
  private def isSmall(file: DataFile): Boolean =
    if (isInOrder(file))
      file.sizeInBytes < settings.minFileSize / LeastShare && !file.cube.exists(largeCubes)
    else file.sizeInBytes < settings.minFileSize

  /** Whether a file with too many deleted rows is rewritten by itself, so that it keeps its place in a Z-cube. */
  def keepsPlace(file: DataFile): Boolean = isInOrder(file) && !isSmall(file)

  private def isInOrder(file: DataFile): Boolean = file.cube.nonEmpty

  def isHeavy(file: DataFile): Boolean = file.deletedRowsRatio > settings.maxDeletedRowsRatio

  /**
   * The file of a bin whose rewrite would gain almost nothing: the largest, if all others together are small
   * compared to it, and it does not have too many deleted rows. Example: 900 MB and 1 KB; the 1 KB waits
   * until others have made it 112 MB. So the number of times that a byte is rewritten grows with the
   * logarithm of the table's size, not with the number of appends.
   */
  def giantOf(bin: Iterable[DataFile]): Option[DataFile] = {
    var total = 0L
    var largest: Option[DataFile] = None
    // One pass, without the objects of collections: a bin may have a hundred thousand files.
    bin.foreach { file =>
      total += file.sizeInBytes
      if (largest.forall(_.sizeInBytes < file.sizeInBytes) && !isHeavy(file)) largest = Some(file)
    }
    largest.filter(file => (total - file.sizeInBytes) * LeastShare < file.sizeInBytes)
  }

  /** The bin without its giants. */
  @tailrec
  def withoutGiants(bin: Seq[DataFile]): Seq[DataFile] = giantOf(bin) match {
    case Some(giant) => withoutGiants(bin.filterNot(_ eq giant))
    case None => bin
  }

  /**
   * Whether a bin without giants is rewritten. Files from an earlier run with the same target size are kept
   * until a new file joins them. Their sizes shrank in that run, and packing them repeatedly would
   * rewrite the table for nothing.
   */
  def isWorthRewriting(bin: Iterable[DataFile]): Boolean =
    bin.size > 1 && hasEnough(bin) && bin.exists(!_.optimizedFor.contains(targetFileSize)) ||
      bin.exists(isHeavy)

  /** Enough files, or enough bytes for an output that no later run has to touch. */
  private def hasEnough(bin: Iterable[DataFile]): Boolean =
    bin.size >= settings.minInputFiles ||
      DataFile.bytesOf(bin) * LeastShare >= targetFileSize * (LeastShare - 1)
}

private[deltaupkeep] object BinRules {

  /** The rules for all files of a table. */
  def of(files: Seq[DataFile], settings: OptimizeSettings): BinRules = {
    val sizes = files.flatMap(file => file.cube.map(_ -> file.sizeInBytes)).groupMapReduce(_._1)(_._2)(_ + _)
    BinRules(settings, sizes.collect { case (cube, bytes) if bytes >= settings.minFileSize => cube }.toSet)
  }

  /** The others together hold at least an eighth of the largest file. */
  private val LeastShare = 8
}
