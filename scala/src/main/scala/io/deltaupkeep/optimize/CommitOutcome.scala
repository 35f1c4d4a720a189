package io.deltaupkeep.optimize

/** A bin that was rewritten; sizes in bytes, one for each new file. */
final case class RewrittenBin(bin: Bin, addedSizes: Seq[Long])

/**
 * What the commit of an OPTIMIZE did.
 *
 * @param version   of the commit, None where no bin was left to commit
 * @param committed bins that are in the table now
 * @param lost      bins that another writer overtook; their new files were removed
 */
final case class CommitOutcome(version: Option[Long], committed: Seq[RewrittenBin], lost: Seq[Bin])

object CommitOutcome {
  val nothingToDo: CommitOutcome = CommitOutcome(None, Nil, Nil)
}
