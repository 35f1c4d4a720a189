package io.deltaupkeep.cleanup

/** Which versions a reader can build from the files of a log. */
private[cleanup] object Readability {

  /**
   * The oldest version from which on every version up to the newest commit can be read: from commit 0, or from
   * a complete checkpoint, with no commit missing in between. A version without its commit does not count.
   */
  def oldest(commits: Seq[Long], completeCheckpoints: Seq[Long]): Option[Long] =
    commits.maxOption.flatMap { newest =>
      val start = startOfUnbrokenRun(commits, newest)
      val base = completeCheckpoints.filter(version => version >= start - 1 && version <= newest).minOption
      if (start == 0) Some(0L) else base.map(math.max(_, start))
    }

  /** Commits 3, 4, 7, 8, 9 end in the run from 7 on. */
  private def startOfUnbrokenRun(commits: Seq[Long], newest: Long): Long = {
    val known = commits.toSet
    Iterator.iterate(newest)(_ - 1).dropWhile(version => known.contains(version - 1)).next()
  }
}
