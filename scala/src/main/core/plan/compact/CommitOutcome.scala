package io.deltaupkeep.plan.compact

import io.deltaupkeep.CountText

/**
 * A bin that was rewritten.
 *
 * @param addedSizes of its new files, in bytes
 * @param rowGroups  counted where footers were read
 * @param work       by tier: one bin may hold chunks that are copied and others that are spliced
 * @param lateRows   of the new file that other writers deleted meanwhile: a deletion vector hides them
 * @param doubt      why all rows of inputs and new file were read and compared without being asked for
 */
final case class RewrittenBin(
    bin: Bin,
    addedSizes: Seq[Long],
    rowGroups: Option[RowGroupCounts],
    work: Seq[TierWork],
    lateRows: Long = 0,
    doubt: Option[String] = None
)

/** Row groups of the inputs and of the new file. */
final case class RowGroupCounts(before: Long, after: Long)

/** Bytes of input that went through a tier, and milliseconds of work on them by all threads. */
final case class TierWork(tier: String, bytes: Long, milliseconds: Long)

/**
 * A bin whose new file would differ from its inputs. It stays as it is, and the others go on.
 *
 * @param difference the first one, as sentences
 */
final case class OddBin(bin: Bin, difference: String) {
  def text: String = {
    val (first, partition) = (bin.files.head.path, bin.partition.text)
    val where = if (partition.isEmpty) "" else s" of $partition"
    s"${CountText.of(bin.files.size, "file")}$where from $first on: $difference"
  }
}

/**
 * What the commits of an OPTIMIZE did.
 *
 * @param versions  of the commits, none if no bin was left to commit
 * @param committed bins that are in the table now
 * @param lost      bins whose files another writer changed first in a way that cannot be carried over; their new files
 *                  were deleted
 * @param left      files that stay as they are, because they cannot be spliced, or Spark cannot read them
 * @param odd       bins whose new files would differ from their inputs
 */
final case class CommitOutcome(
    versions: Seq[Long] = Nil,
    committed: Seq[RewrittenBin] = Nil,
    lost: Seq[Bin] = Nil,
    left: Seq[Bin] = Nil,
    odd: Seq[OddBin] = Nil
) {

  def ++(later: CommitOutcome): CommitOutcome =
    CommitOutcome(
      versions ++ later.versions,
      committed ++ later.committed,
      lost ++ later.lost,
      (left ++ later.left).distinct,
      odd ++ later.odd
    )
}

object CommitOutcome {
  val nothingToDo: CommitOutcome = CommitOutcome()
}
