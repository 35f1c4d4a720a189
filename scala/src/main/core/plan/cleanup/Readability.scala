package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.CommitTimes

/** Which versions a reader can build from the files of a log. */
private[deltaupkeep] object Readability {

  /**
   * The oldest version such that it and every later version can be read: from commit 0, or from a complete
   * checkpoint, with no commit missing in between. A version without its commit does not count.
   */
  def oldest(commits: CommitTimes, completeCheckpoints: Seq[Long]): Option[Long] =
    for {
      newest <- commits.newest
      start <- commits.startOfUnbrokenRun
      base = completeCheckpoints.filter(version => version >= start - 1 && version <= newest).minOption
      oldest <- if (start == 0) Some(0L) else base.map(math.max(_, start))
    } yield oldest
}
