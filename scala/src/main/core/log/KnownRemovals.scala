package io.deltaupkeep.log

import scala.annotation.tailrec

/**
 * The versions of which a log tells what they removed: by their commits, or by what was written down of these before
 * they were deleted.
 */
final class KnownRemovals private (commits: CommitTimes, records: Seq[LogFileKind.RemovedFiles]) {

  /** From this version on no commit is missing; None if there are no commits. */
  val oldestCommit: Option[Long] = commits.startOfUnbrokenRun

  /** From this version on all removals are known; None if there are no commits. */
  val oldest: Option[Long] = oldestCommit.map(before)

  /** The first version of which no VACUUM has deleted the files, if it is still known. */
  def firstUnseen(lastVacuum: Option[Long]): Option[Long] = oldest.flatMap { known =>
    lastVacuum.map(_ + 1).filter(_ >= known).orElse(Option.when(known == 0)(0L))
  }

  /** The first version, from one on, that only a commit tells of. */
  @tailrec
  def unrecordedFrom(version: Long): Long =
    records.find(record => record.first <= version && version <= record.last) match {
      case Some(record) => unrecordedFrom(record.last + 1)
      case None => version
    }

  @tailrec
  private def before(version: Long): Long =
    records.find(record => record.first < version && version <= record.last + 1) match {
      case Some(record) => before(record.first)
      case None => version
    }
}

object KnownRemovals {

  def of(files: IndexedSeq[LogFile]): KnownRemovals =
    new KnownRemovals(
      CommitTimes.of(files.iterator),
      files.iterator.map(_.kind).collect { case record: LogFileKind.RemovedFiles => record }.toVector
    )
}
