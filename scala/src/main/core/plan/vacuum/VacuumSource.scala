package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.log.KnownRemovals

/**
 * Where a VACUUM looks for files, and why.
 *
 * @param versions whose commits it reads: the first and the last
 */
final case class VacuumSource(mode: VacuumMode, reason: String, versions: Option[(Long, Long)] = None) {

  /** Whether there is anything to look at. */
  def finds: Boolean = mode != VacuumMode.Log || versions.nonEmpty
}

/**
 * What is known of the past of a table.
 *
 * @param removals   what the log tells of them
 * @param lastVacuum version up to which an earlier VACUUM has deleted what commits removed
 * @param until      newest version that is not newer than the cutoff
 */
final case class KnownPast(removals: KnownRemovals, lastVacuum: Option[Long], until: Option[Long]) {

  private[vacuum] val unseen: Option[Long] = removals.firstUnseen(lastVacuum)

  /** The last version that may have expired: those of which only a record is left are older than any commit. */
  val last: Option[Long] =
    until.orElse(removals.oldestCommit.filter(oldest => removals.oldest.exists(_ < oldest)).map(_ - 1))
}

object VacuumSource {

  /**
   * @param asked   None if the log decides
   * @param tooMany why the commits of some versions are too many to read, or None
   * @return None if the log was to be read, but commits are missing
   */
  def choose(asked: Option[VacuumMode], known: KnownPast)(
      tooMany: ((Long, Long)) => Option[String]
  ): Option[VacuumSource] = {
    def full(why: String) = VacuumSource(VacuumMode.Full, s"lists all directories, because $why")
    def log(first: Long) = known.last.filter(_ >= first) match {
      case Some(last) =>
        VacuumSource(VacuumMode.Log, s"reads what versions $first to $last removed", Some((first, last)))
      case None => VacuumSource(VacuumMode.Log, "no commit has expired since the last VACUUM")
    }
    val byLog = known.unseen.map(log)
    asked match {
      case Some(VacuumMode.Full) => Some(full("mode is full"))
      case Some(VacuumMode.Log) => byLog
      case Some(VacuumMode.Inventory) => Some(VacuumSource(VacuumMode.Inventory, "reads the inventory"))
      case None =>
        Some(byLog.fold(full(known.removals.oldest.fold("there are no commits")(v =>
          s"commits before version $v are gone"
        ))) { source =>
          source.versions.flatMap(tooMany).fold(source)(full)
        })
    }
  }
}
