package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.log.CommitTimes

/**
 * Where a VACUUM looks for files, and why.
 *
 * @param versions whose commits it reads: the first and the last
 */
final case class VacuumSource(mode: VacuumMode, reason: String, versions: Option[(Long, Long)] = None) {

  /** Whether there is anything to look at. */
  def finds: Boolean = mode == VacuumMode.Full || versions.nonEmpty
}

/**
 * What is known of the commits of a table.
 *
 * @param oldest     version from which on no commit is missing
 * @param lastVacuum version up to which an earlier VACUUM has deleted what commits removed
 * @param until      newest version that is not newer than the cutoff
 */
final case class KnownCommits(oldest: Long, lastVacuum: Option[Long], until: Option[Long]) {

  /** The first version that no VACUUM has seen, if its commit is still there. */
  private[vacuum] val unseen: Option[Long] =
    lastVacuum.map(_ + 1).filter(_ >= oldest).orElse(Option.when(oldest == 0)(0L))
}

object VacuumSource {

  /** The version from which on no commit is missing; None if there are no commits. */
  def oldestOf(commits: CommitTimes): Option[Long] = Option.when(commits.size > 0) {
    val last = commits.size - 1
    val gap = (last until 0 by -1).find(i => commits.version(i - 1) != commits.version(i) - 1)
    commits.version(gap.getOrElse(0))
  }

  /**
   * @param asked   None if the log decides
   * @param tooMany why the commits of some versions are too many to read, or None
   * @return None if the log was to be read, but commits are missing
   */
  def choose(asked: Option[VacuumMode], known: KnownCommits)(
      tooMany: ((Long, Long)) => Option[String]
  ): Option[VacuumSource] = {
    def full(why: String) = VacuumSource(VacuumMode.Full, s"lists all directories, because $why")
    def log(first: Long) = known.until.filter(_ >= first) match {
      case Some(last) =>
        VacuumSource(VacuumMode.Log, s"reads the commits of versions $first to $last", Some((first, last)))
      case None => VacuumSource(VacuumMode.Log, "no commit has expired since the last VACUUM")
    }
    val byLog = known.unseen.map(log)
    asked match {
      case Some(VacuumMode.Full) => Some(full("mode is full"))
      case Some(VacuumMode.Log) => byLog
      case None =>
        Some(byLog.fold(full(s"commits before version ${known.oldest} are gone")) { source =>
          source.versions.flatMap(tooMany).fold(source)(full)
        })
    }
  }
}
