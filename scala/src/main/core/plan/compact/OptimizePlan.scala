package io.deltaupkeep.plan.compact

import io.deltaupkeep.{ByteText, CountText, FileTotal}
import io.deltaupkeep.parquet.encoding.Compression

/** How the new file of a bin is made, with the reason. Chosen in the plan and shown in the result. */
sealed trait Tier {
  def name: String
  def reason: String
}

object Tier {

  /** The cheapest first. */
  val names: Seq[String] = Seq("copy", "recompress", "splice", "transcode", "gather", "rows")

  /** Row groups are copied as bytes. */
  final case class Copy(reason: String) extends Tier {
    override def name: String = "copy"
  }

  /** Row groups are kept, and their pages are compressed with another codec. */
  final case class Recompress(reason: String) extends Tier {
    override def name: String = "recompress"
  }

  /** Row groups are merged page by page. The content of pages stays encoded. */
  final case class Splice(reason: String) extends Tier {
    override def name: String = "splice"
  }

  /** Like splice, but values of some column are decoded or converted, one by one. */
  final case class Transcode(reason: String) extends Tier {
    override def name: String = "transcode"
  }

  /**
   * Rows are put in another order without being made: each column is taken in that order.
   *
   * @param why the bin is rewritten
   */
  final case class Gather(why: String, how: String) extends Tier {
    override def name: String = "gather"
    override def reason: String = s"$why; $how"
  }

  /** Delta's own path: rows are decoded, hidden ones dropped, and encoded again. */
  final case class Rows(reason: String, cause: RowsCause) extends Tier {
    override def name: String = "rows"
  }
}

/** What makes the rows tier necessary, in a word: the name of its counter. */
sealed abstract class RowsCause(val name: String) extends Serializable

object RowsCause {

  /** The session's settings ask for it. */
  case object Setting extends RowsCause("setting")

  /** A column's type, or a feature of the table. */
  case object Table extends RowsCause("table")

  /** A file, although it is valid: its writer, its columns, its size. */
  case object File extends RowsCause("file")

  /** A file, or its entries in the log, violate the format. */
  case object Malformed extends RowsCause("malformed")

  /** The log and the footers of the files disagree. */
  case object Statistics extends RowsCause("statistics")

  val all: Seq[RowsCause] = Seq(Setting, Table, File, Malformed, Statistics)
}

/** The tags of a new file. */
sealed trait NewFileTags

object NewFileTags {

  /** The target size, which says that the file was optimized for it. */
  case object TargetSize extends NewFileTags

  /** Those of the only input: the new file takes its place. */
  case object OfInput extends NewFileTags

  /** Those of the only input, and the target size: as large as the target, it stays so if it shrinks now. */
  case object OfLargeInput extends NewFileTags
}

/**
 * Files of one partition that are rewritten together.
 *
 * @param mayStay   whether it is rewritten only for its codec, so that a damaged file stays as it is
 * @param fileBytes size of its new files, if it is not the target size
 */
final case class Bin(
    files: Seq[DataFile],
    tier: Tier,
    tags: NewFileTags = NewFileTags.TargetSize,
    mayStay: Boolean = false,
    fileBytes: Option[Long] = None
) {
  require(files.forall(_.partition == partition), s"A bin mixes partitions: ${partition.text}")

  def partition: Partition = files.head.partition
  val sizeInBytes: Long = DataFile.bytesOf(files)
}

/**
 * What an OPTIMIZE will do.
 *
 * @param considered number of files that the predicate selects; those in no bin are not changed
 * @param bins       largest first
 * @param deferred   bins, or parts of them, that exceed the limits of this run
 * @param left       files that cannot be spliced and need not be rewritten, by bin; known once footers were read
 * @param compression of new files, if it was asked for
 * @param waiting    files that may be rewritten too, but are planned after these bins are committed: they are too many to be
 *                   planned at once
 */
final case class OptimizePlan(
    layout: Layout,
    targetFileSize: Long,
    considered: Int,
    bins: Seq[Bin],
    deferred: Seq[Bin] = Nil,
    left: Seq[Bin] = Nil,
    compression: Option[Compression] = None,
    waiting: FileTotal = FileTotal.none
) {

  def isEmpty: Boolean = bins.isEmpty

  def files: Seq[DataFile] = bins.flatMap(_.files)

  /** Those of `all` that are in no bin, neither of this run nor of a later one. */
  def notPlanned(all: Seq[DataFile]): Seq[DataFile] = {
    val planned = (bins ++ deferred).iterator.flatMap(_.files).map(_.id).toSet
    all.filterNot(file => planned(file.id))
  }

  /** In words, for EXPLAIN. */
  def describe: Seq[String] = {
    val each = bins.map { bin =>
      s"${CountText.of(bin.files.size, "file")}, ${ByteText.of(bin.sizeInBytes)} ${bin.partition.text} " +
        s"(${bin.tier.name}: ${bin.tier.reason})"
    }
    val footers = Option.when(bins.exists(!_.tier.isInstanceOf[Tier.Rows])) {
      "the tiers are based on the log alone; DRY RUN also reads the files' footers, and may name others"
    }
    (s"bins: ${bins.size}, files: ${files.size} of $considered" +: each) ++ footers ++ waits
  }

  /** What is planned later, in words. */
  def waits: Option[String] = Option.when(waiting.files > 0) {
    s"another ${CountText.of(waiting.files, "small file")}, ${ByteText.of(waiting.bytes)}, are planned after these are rewritten"
  }

  private[deltaupkeep] def largestFirst(some: Seq[Bin]): Seq[Bin] =
    some.sortBy(bin => (-bin.sizeInBytes, bin.partition.text))

  /** New files of one bin: one when rows keep their order; else as many as their size gives. */
  def outputsOf(bin: Bin): Long =
    if (layout.reorders && bin.tags == NewFileTags.TargetSize)
      math.max(1, bin.sizeInBytes / bin.fileBytes.getOrElse(targetFileSize))
    else 1
}
