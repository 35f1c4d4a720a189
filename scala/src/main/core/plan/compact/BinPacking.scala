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
      val (groups, giants) = groupsOf(parts, rules, MostRounds)
      val (merged, others) = groups.partition(group => rules.isWorthRewriting(filesOf(group)))
      if (merged.isEmpty || rounds == 0) parts
      else merge(others.flatten ++ giants ++ merged.map(Part.of(_, rules.targetFileSize)), rounds - 1)
    }
    merge(candidates.map(new Part(_)), MostRounds).filter(_.isRewritten).map(_.files)
  }

  /**
   * Groups without giants, and the giants. The other files of a giant's bin may fit elsewhere, so everything is packed
   * again.
   */
  @tailrec
  private def groupsOf(
      parts: Seq[Part],
      rules: BinRules,
      rounds: Int,
      giants: Seq[Part] = Nil
  ): (Seq[Seq[Part]], Seq[Part]) = {
    val groups = FirstFit.pack(parts, rules.targetFileSize)(_.asFile.sizeInBytes)
    val (withGiant, others) =
      groups.map(group => group -> rules.giantOf(filesOf(group))).partition(_._2.nonEmpty)
    if (withGiant.isEmpty) (groups, giants)
    else if (rounds == 0) (others.map(_._1), giants ++ withGiant.flatMap(_._1))
    else {
      val (found, beside) = withGiant.map { case (group, giant) =>
        group.partition(part => giant.exists(_ eq part.asFile))
      }.unzip
      groupsOf(others.flatMap(_._1) ++ beside.flatten, rules, rounds - 1, giants ++ found.flatten)
    }
  }

  private def filesOf(group: Seq[Part]): Iterable[DataFile] = group.view.map(_.asFile)

  /**
   * Enough for sizes from one byte to the target: what is left shrinks by a factor of eight in each round.
   */
  private val MostRounds = 32

  /**
   * One file that is kept, or files that become one.
   *
   * @param asFile the file, or the new one
   * @param merged the files that become one, or none
   */
  private final class Part(val asFile: DataFile, merged: Seq[DataFile] = Nil) {
    def isRewritten: Boolean = merged.nonEmpty
    def files: Seq[DataFile] = if (isRewritten) merged else Seq(asFile)
  }

  private object Part {
    def of(group: Seq[Part], target: Long): Part = {
      val output = group.head.asFile.copy(
        deletionVector = None,
        sizeInBytes = DataFile.bytesOf(filesOf(group)),
        deletedRows = 0,
        optimizedFor = Some(target)
      )
      new Part(output, group.flatMap(_.files))
    }
  }
}
