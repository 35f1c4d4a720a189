package io.deltaupkeep.plan.compact

import io.deltaupkeep.parquet.file.Refusal

/** What makes it worth rewriting a file of a bin. */
sealed trait RewriteNeed

object RewriteNeed {

  /** Even alone: it has deleted rows or another codec, or a user asked for it. */
  case object Alone extends RewriteNeed

  /** With any other file. */
  case object Together extends RewriteNeed

  /** Only with files of another kind: an earlier run with the same target size wrote it. */
  case object Kept extends RewriteNeed

  def of(file: DataFile, bin: Bin, plan: OptimizePlan): RewriteNeed =
    if (!plan.layout.bySize || bin.tags != NewFileTags.TargetSize || file.deletionVector.nonEmpty) Alone
    else if (file.optimizedFor.contains(plan.targetFileSize)) Kept
    else Together
}

/**
 * Splits a bin if some of its files cannot be spliced: the others are spliced, these are rewritten row by row, and
 * a file that is no longer worth rewriting stays as it is. A second run would decide the same about what is left, so
 * it makes no commit. Pure.
 *
 * Example: of a, b, c and d, the last has dates of the legacy calendar. The first three become one file, and d
 * stays. If c is like d, c and d become a file of their own.
 *
 * @param needs   of the files of the bin, in its order
 * @param mayStay whether damaged files stay as they are
 */
final case class BinSplit(needs: IndexedSeq[RewriteNeed], mayStay: Boolean = false) {
  import BinSplit._

  /** Whether these files of the bin, by their positions, are worth rewriting without the others. */
  def isWorthIt(files: Seq[Int]): Boolean = Counts.of(files.map(needs)).areWorthIt

  /** Files without which the others are not worth rewriting. */
  def pivots: Seq[Int] = {
    val all = Counts.of(needs)
    needs.indices.filterNot(file => all.without(needs(file)).areWorthIt)
  }

  def parts(refused: Map[Int, Refusal]): Parts = {
    val (unable, able) = needs.indices.partition(refused.contains)
    if (unable.isEmpty) Parts(able, Nil, Nil)
    else if (unable.forall(refused(_).isDamaged)) Parts(Nil, Nil, unable)
    else {
      val spliced = if (isWorthIt(able)) able else Nil
      // One that is left over goes with the others: the next run would splice it with their new file.
      val leftOver = if (spliced.isEmpty) able.filter(needs(_) == RewriteNeed.Together) else Nil
      val isDue = isWorthIt(unable) || leftOver.nonEmpty || unable.exists(refused(_).isMalformed)
      if (isDue) Parts(spliced, (unable ++ leftOver).sorted, Nil) else Parts(spliced, Nil, unable)
    }
  }
}

object BinSplit {

  /** How many files there are, and how many of them have each need. */
  private final case class Counts(files: Int, alone: Int, together: Int) {

    def areWorthIt: Boolean = alone > 0 || files > 1 && together > 0

    def without(need: RewriteNeed): Counts = Counts(
      files - 1,
      alone - (if (need == RewriteNeed.Alone) 1 else 0),
      together - (if (need == RewriteNeed.Together) 1 else 0)
    )
  }

  private object Counts {
    def of(needs: Seq[RewriteNeed]): Counts =
      Counts(needs.size, needs.count(_ == RewriteNeed.Alone), needs.count(_ == RewriteNeed.Together))
  }

  /** Positions of the files of a bin. Those in none of the three could be spliced, but are not rewritten. */
  final case class Parts(spliced: Seq[Int], byRows: Seq[Int], left: Seq[Int])
}
