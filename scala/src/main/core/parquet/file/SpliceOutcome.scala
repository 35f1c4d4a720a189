package io.deltaupkeep.parquet.file

import io.deltaupkeep.parquet.footer.SplicedTotals
import io.deltaupkeep.parquet.plan.ChunkTier

/** Compressed bytes of input chunks, and nanoseconds that all threads spent on them. */
final case class TierTally(bytes: Long, nanos: Long) {
  def +(other: TierTally): TierTally = TierTally(bytes + other.bytes, nanos + other.nanos)
}

/**
 * A run of an input's rows that stay together in the output. Large row groups of an input may come before small ones,
 * which are collected until they fill a row group, so an input may have several runs.
 *
 * @param input    position among the inputs that are not refused
 * @param firstRow of the run, by its position in the input
 * @param stored   rows of the input that the run spans
 * @param rows     those of them in the output: the others were deleted
 */
final case class PlacedRows(input: Int, firstRow: Long, stored: Long, rows: Long) {

  /** One past the last row of the input that the run spans. */
  def end: Long = firstRow + stored

  /** This run joined with the next one, if they are adjacent. */
  private[file] def joined(next: PlacedRows): Option[PlacedRows] =
    Option.when(next.input == input && next.firstRow == end) {
      copy(stored = stored + next.stored, rows = rows + next.rows)
    }
}

/** How a splice ended. */
sealed trait SpliceOutcome

object SpliceOutcome {

  /**
   * The output was written, unless there were no rows.
   *
   * @param rows            of the output
   * @param placed          where the rows of the inputs are, in the order of the output
   * @param rowGroupsBefore of all inputs
   * @param rowGroupsAfter  of the output
   * @param tier            the most expensive tier of any chunk, and `reason` says why
   * @param tallies         the work by tier; none in a preview
   * @param totals          the totals of the footers; none in a preview, and none if there are no rows
   * @param refused         inputs that were left out, by their positions
   * @param kinds           one input of each kind, by its position among those that are not refused
   */
  final case class Done(
      rows: Long,
      placed: Seq[PlacedRows],
      rowGroupsBefore: Int,
      rowGroupsAfter: Int,
      tier: ChunkTier,
      reason: String,
      tallies: Map[ChunkTier, TierTally],
      totals: Option[SplicedTotals],
      refused: Map[Int, Refusal] = Map.empty,
      kinds: Seq[Int] = Nil
  ) extends SpliceOutcome {

    /** What became of the inputs of both, of which none is refused. Where their rows are is not kept. */
    def and(other: Done): Done = if (rows == 0 && other.rows > 0) other.and(this)
    else Done(
      rows + other.rows,
      Nil,
      rowGroupsBefore + other.rowGroupsBefore,
      rowGroupsAfter + other.rowGroupsAfter,
      tier,
      reason,
      (tallies.toSeq ++ other.tallies).groupMapReduce(_._1)(_._2)(_ + _),
      (totals ++ other.totals).reduceOption(_ and _)
    )
  }

  /**
   * Nothing was spliced; an incomplete output has to be deleted. The other inputs may be spliced without these.
   *
   * @param inputs that cannot be spliced, by their positions; at least one
   */
  final case class Refused(inputs: Map[Int, Refusal]) extends SpliceOutcome {

    /** The first one's reason. */
    def reason: String = inputs.minBy(_._1)._2.reason
  }
}
