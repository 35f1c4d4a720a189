package io.deltaupkeep.plan.compact

import scala.annotation.tailrec

/**
 * Packs the candidates of one partition into bins up to the target size, by first fit. Pure.
 *
 * A packed bin then counts as one file of its output size, and is packed again with the files left over,
 * until nothing changes. Otherwise a second run would find more to do. Each of the few rounds takes O(n log
 * n) for the files that are left.
 */
private[deltaupkeep] object BinPacking {

  def apply(candidates: Seq[DataFile], rules: BinRules): Seq[Seq[DataFile]] = {
    @tailrec
    def merge(parts: Seq[Part], rounds: Int): Seq[Part] = {
      val groups =
        groupsOf(parts, rules, MostRounds).filter(group => rules.isWorthRewriting(group.map(_.asFile)))
      if (groups.isEmpty || rounds == 0) parts
      else {
        val used = IdentitySet.of(groups.iterator.flatten)
        merge(
          parts.filterNot(used) ++ groups.map(Part(_, rules.targetFileSize)),
          rounds - 1
        )
      }
    }
    merge(candidates.map(file => Part(Seq(file), file, isRewritten = false)), MostRounds)
      .filter(_.isRewritten)
      .map(_.files)
  }

  /**
   * Groups without giants. The other files of a giant's bin may fit elsewhere, so everything is packed again.
   */
  @tailrec
  private def groupsOf(parts: Seq[Part], rules: BinRules, rounds: Int): Seq[Seq[Part]] = {
    val groups = FirstFit.pack(parts, rules.targetFileSize)(_.asFile.sizeInBytes)
    val giants = groups.flatMap(group => rules.giantOf(group.map(_.asFile)))
    val isGiant = IdentitySet.of(giants)
    if (giants.isEmpty) groups
    else if (rounds == 0) groups.filterNot(_.exists(part => isGiant(part.asFile)))
    else groupsOf(parts.filterNot(part => isGiant(part.asFile)), rules, rounds - 1)
  }

  /**
   * Enough for sizes from one byte to the target: what is left shrinks by a factor of eight in each round.
   */
  private val MostRounds = 32

  /** Files that become one file, or one file that is kept. `asFile` describes the result. */
  private final case class Part(files: Seq[DataFile], asFile: DataFile, isRewritten: Boolean)

  private object Part {
    def apply(group: Seq[Part], target: Long): Part = {
      val output = group.head.asFile.copy(
        deletionVector = None,
        sizeInBytes = DataFile.bytesOf(group.map(_.asFile)),
        deletedRows = 0,
        optimizedFor = Some(target)
      )
      Part(group.flatMap(_.files), output, isRewritten = true)
    }
  }
}
