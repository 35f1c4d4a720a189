package io.deltaupkeep.optimize

import scala.annotation.tailrec

/**
 * Packs the candidates of one partition into bins up to the target size, by first fit. Pure.
 *
 * A bin counts as its output from then on, and is packed again with what was left over, until nothing changes:
 * else a second run would find that work. Each round takes O(n log n) in what is left, and there are few.
 */
private[optimize] object BinPacking {

  def apply(candidates: Seq[DataFile], rules: BinRules): Seq[Seq[DataFile]] = {
    @tailrec
    def merge(parts: Seq[Part], rounds: Int): Seq[Part] = {
      val groups =
        groupsOf(parts, rules, MostRounds).filter(group => rules.isWorthRewriting(group.map(_.asFile)))
      if (groups.isEmpty || rounds == 0) parts
      else {
        val used = groups.iterator.flatten.map(_.asFile.id).toSet
        merge(
          parts.filterNot(part => used(part.asFile.id)) ++ groups.map(Part(_, rules.targetFileSize)),
          rounds - 1
        )
      }
    }
    merge(candidates.map(file => Part(Seq(file), file, isRewritten = false)), MostRounds)
      .filter(_.isRewritten)
      .map(_.files)
  }

  /** Groups without giants. What a giant leaves behind may find other company, so all is packed again. */
  @tailrec
  private def groupsOf(parts: Seq[Part], rules: BinRules, rounds: Int): Seq[Seq[Part]] = {
    val groups = FirstFit.pack(parts, rules.targetFileSize)(_.asFile.sizeInBytes)
    val giants = groups.flatMap(group => rules.giantOf(group.map(_.asFile))).map(_.id).toSet
    if (giants.isEmpty) groups
    else if (rounds == 0) groups.filterNot(_.exists(part => giants(part.asFile.id)))
    else groupsOf(parts.filterNot(part => giants(part.asFile.id)), rules, rounds - 1)
  }

  /** Enough for sizes from bytes to the target: what is left shrinks by eight with each. */
  private val MostRounds = 32

  /** Files that become one, or one that stays; `asFile` stands for what they become. */
  private final case class Part(files: Seq[DataFile], asFile: DataFile, isRewritten: Boolean)

  private object Part {
    def apply(group: Seq[Part], target: Long): Part = {
      val output = group.head.asFile.copy(
        deletionVector = None,
        sizeInBytes = group.iterator.map(_.asFile.sizeInBytes).sum,
        deletedRows = 0,
        optimizedFor = Some(target)
      )
      Part(group.flatMap(_.files), output, isRewritten = true)
    }
  }
}
