package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.CommitTimes

/** Which versions a reader can build from the files of a log. */
private[deltaupkeep] object Readability {

  /**
   * The oldest version such that it and every later version can be read: from commit 0, or from a complete
   * checkpoint, with no commit missing in between. A version without its commit does not count.
   */
  def oldest(commits: CommitTimes, completeCheckpoints: Seq[Long]): Option[Long] =
    commits.newest.flatMap { newest =>
      val start = startOfUnbrokenRun(commits)
      val base = completeCheckpoints.filter(version => version >= start - 1 && version <= newest).minOption
      if (start == 0) Some(0L) else base.map(math.max(_, start))
    }

  /** Commits 3, 4, 7, 8, 9 end in the run from 7 on. */
  private def startOfUnbrokenRun(commits: CommitTimes): Long = {
    var index = commits.size - 1
    while (index > 0 && commits.version(index - 1) == commits.version(index) - 1) index -= 1
    commits.version(index)
  }
}
