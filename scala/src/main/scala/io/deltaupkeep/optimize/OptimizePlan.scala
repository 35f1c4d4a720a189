package io.deltaupkeep.optimize

/** How the files of a bin become new ones, with the reason for it: chosen while planning, shown in the result. */
sealed trait Tier {
  def name: String
  def reason: String
}

object Tier {

  /** From the cheapest on. */
  val names: Seq[String] = Seq("copy", "splice", "transcode", "rows")

  /** Row groups are copied as bytes. */
  final case class Copy(reason: String) extends Tier {
    override def name: String = "copy"
  }

  /** Row groups are merged page by page; what lies in pages stays encoded, and values stay untouched. */
  final case class Splice(reason: String) extends Tier {
    override def name: String = "splice"
  }

  /** As splice, but some column is in an encoding that has to be decoded, value by value. */
  final case class Transcode(reason: String) extends Tier {
    override def name: String = "transcode"
  }

  /** Delta's own path: rows are decoded, hidden ones dropped, and encoded again. */
  final case class Rows(reason: String) extends Tier {
    override def name: String = "rows"
  }
}

/** What OPTIMIZE does to the order of rows. */
sealed trait Layout

object Layout {

  /** Small files become large ones; rows keep their order. */
  case object Compact extends Layout

  /** Every file of a partition is ordered anew along a Z-curve over the columns. */
  final case class ZOrder(columns: Seq[String]) extends Layout

  /** Liquid clustering by the table's own columns; `full` includes files clustered by other columns. */
  final case class Cluster(columns: Seq[String], full: Boolean) extends Layout
}

/** Files of one partition that are rewritten together. */
final case class Bin(files: Seq[DataFile], tier: Tier) {
  require(files.forall(_.partition == partition), s"A bin mixes partitions: ${partition.text}")

  def partition: Partition = files.head.partition
  def sizeInBytes: Long = files.iterator.map(_.sizeInBytes).sum
}

/**
 * What an OPTIMIZE will do.
 *
 * @param considered files that the predicate selects; all that is not in a bin stays as it is
 * @param bins       largest first
 * @param deferred   bins, or parts of them, that are beyond the bounds of this run
 */
final case class OptimizePlan(
    layout: Layout,
    targetFileSize: Long,
    considered: Seq[DataFile],
    bins: Seq[Bin],
    deferred: Seq[Bin] = Nil
) {

  def isEmpty: Boolean = bins.isEmpty

  def files: Seq[DataFile] = bins.flatMap(_.files)

  private[optimize] def largestFirst(some: Seq[Bin]): Seq[Bin] =
    some.sortBy(bin => (-bin.sizeInBytes, bin.partition.text))

  /** New files of one bin: one when compacting, as many as the target size gives when rows are ordered anew. */
  def outputsOf(bin: Bin): Long = layout match {
    case Layout.Compact => 1
    case _ => math.max(1, bin.sizeInBytes / targetFileSize)
  }
}
