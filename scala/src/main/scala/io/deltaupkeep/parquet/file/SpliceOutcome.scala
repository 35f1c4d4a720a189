package io.deltaupkeep.parquet.file

import io.deltaupkeep.parquet.footer.SplicedTotals

/** What became of the bytes of the input's column chunks. */
sealed trait ChunkTier {
  def name: String
}

object ChunkTier {

  /** As bytes. */
  case object Copy extends ChunkTier { override val name: String = "copy" }

  /** Page by page, values untouched. */
  case object Splice extends ChunkTier { override val name: String = "splice" }

  /** Value by value, for an encoding that is not PLAIN or a dictionary's. */
  case object Transcode extends ChunkTier { override val name: String = "transcode" }
}

/** Bytes of input chunks, compressed, and nanoseconds of work on them by all threads. */
final case class TierTally(bytes: Long, nanos: Long) {
  def +(other: TierTally): TierTally = TierTally(bytes + other.bytes, nanos + other.nanos)
}

/** The end of one splice. */
sealed trait SpliceOutcome

object SpliceOutcome {

  /**
   * The output is there; where there were no rows it is not.
   *
   * @param rows            of the output
   * @param rowGroupsBefore of all inputs
   * @param rowGroupsAfter  of the output
   * @param tier            the most that had to be done to any chunk, and `reason` why
   * @param tallies         the work by tier; none in a preview
   * @param totals          what the footers tell; none in a preview, and where there are no rows
   */
  final case class Done(
      rows: Long,
      rowGroupsBefore: Int,
      rowGroupsAfter: Int,
      tier: ChunkTier,
      reason: String,
      tallies: Map[ChunkTier, TierTally],
      totals: Option[SplicedTotals]
  ) extends SpliceOutcome

  /** The inputs need to be read as rows; what was written of the output is worth nothing. */
  final case class Refused(reason: String) extends SpliceOutcome
}
