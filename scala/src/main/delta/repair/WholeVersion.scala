package org.apache.spark.sql.delta.upkeep.repair

import scala.collection.mutable

import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.Problem

import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}

/**
 * Finds the version that a RESTORE may go back to: the last one without files that were lost.
 *
 * @param check problems of files that the table no longer has
 */
private[repair] final class WholeVersion(
    commits: LogCommits,
    logged: LoggedFiles,
    check: Seq[AddFile] => Map[DataFile.Id, Problem]
) {

  /** None if the log does not reach back to it, or if other files of that version are gone too. */
  def before(lost: Set[DataFile.Id]): Option[Long] =
    firstWith(lost).map(_ - 1).filter(commits.canRead).filter(version => check(removedSince(version)).isEmpty)

  /** The first version that has one of the files; None if one of them is older than the log. */
  private def firstWith(lost: Set[DataFile.Id]): Option[Long] = {
    val added = mutable.Map.empty[DataFile.Id, Long]
    for ((version, actions) <- commits.all) {
      actions.foreach {
        case remove: RemoveFile => added -= logged.idOf(RemovedFile.added(remove))
        case _ => ()
      }
      actions.foreach {
        case add: AddFile if lost(logged.idOf(add)) => added.getOrElseUpdate(logged.idOf(add), version)
        case _ => ()
      }
    }
    Some(added.values).filter(_.size == lost.size).map(_.min)
  }

  /** Files of a version that are no longer in the table. */
  private def removedSince(version: Long): Seq[AddFile] = {
    val added = mutable.Set.empty[DataFile.Id]
    val removed = mutable.Map.empty[DataFile.Id, AddFile]
    for ((_, actions) <- commits.from(Some(version + 1)); action <- actions) action match {
      case add: AddFile => added += logged.idOf(add)
      case remove: RemoveFile =>
        val file = RemovedFile.added(remove)
        if (!added(logged.idOf(file))) removed(logged.idOf(file)) = file
      case _ => ()
    }
    removed.values.toSeq
  }
}
