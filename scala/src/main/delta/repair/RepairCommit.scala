package org.apache.spark.sql.delta.upkeep.repair

import java.io.IOException
import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.collection.mutable

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.FsckMode

import org.apache.spark.sql.delta.{DeltaConfigs, RowTracking}
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.upkeep.commit.{CommitBase, LandedCommit}
import org.apache.spark.sql.delta.upkeep.files.{FilePredicate, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/** Entries that leave the log together, and those that take their place. */
private[repair] final case class Change(removed: Set[DataFile.Id], added: Seq[AddFile])

/** @param done the changes that were committed; others could not be made any more */
private[repair] final case class Repaired(version: Option[Long], done: Set[Change])

/**
 * Commits changes, as one version if the log names no path twice.
 *
 * @param isStillDue looks at the files of changes once more, immediately before a commit
 */
private[repair] final class RepairCommit(
    table: DeltaHandle,
    files: SelectedFiles,
    mode: FsckMode,
    isStillDue: Seq[Change] => Set[Change]
) {
  import RepairCommit._

  /** @throws io.deltaupkeep.UpkeepException `FSCK_CONFLICT`, `FSCK_APPEND_ONLY` */
  def apply(changes: Seq[Change]): Repaired =
    if (changes.isEmpty) Repaired(None, Set.empty)
    else {
      table.requireWritableLog(Statement)
      val (first, rest) = withoutRepetition(changes)
      val done = commit(first, table, files, attempt = 1)
      val later = apply(rest)
      Repaired(later.version.orElse(done.version), done.done ++ later.done)
    }

  /** Delta does not commit two removals of a path together, which a damaged log asks for. */
  private def withoutRepetition(changes: Seq[Change]): (Seq[Change], Seq[Change]) = {
    val paths = mutable.Set.empty[String]
    changes.partition { change =>
      val own = change.removed.map(_.path)
      val isNew = !own.exists(paths)
      if (isNew) paths ++= own
      isNew
    }
  }

  @tailrec
  private def commit(
      changes: Seq[Change],
      handle: DeltaHandle,
      current: SelectedFiles,
      attempt: Int
  ): Repaired = {
    requireRemovable(handle, mode)
    val byId = current.adds.iterator.map(add => current.ids.idOf(add) -> add).toMap
    val possible = if (isAsPlanned(handle)) changes.filter(isPossible(_, byId)) else Nil
    val due = possible.filter(isStillDue(possible))
    if (due.isEmpty) Repaired(None, Set.empty)
    else
      tryCommit(due, handle, current, byId) match {
        case Right(version) => Repaired(Some(version), due.toSet)
        case Left(conflict) =>
          if (attempt == MaxAttempts) throw UpkeepErrors.fsckConflict(table.name, MaxAttempts, conflict)
          val newest = table.updated(Statement, Intent.Reorganize)
          commit(changes, newest, new SelectedFiles(newest, FilePredicate.none, whole = true), attempt + 1)
      }
  }

  /** What was written under another protocol may not be allowed any more. */
  private def isAsPlanned(handle: DeltaHandle): Boolean =
    mode != FsckMode.Restore || handle.snapshot.protocol == table.snapshot.protocol

  private def isPossible(change: Change, byId: Map[DataFile.Id, AddFile]): Boolean =
    change.removed.forall(byId.contains) && !change.added.exists(add => byId.contains(files.ids.idOf(add)))

  private def tryCommit(
      changes: Seq[Change],
      handle: DeltaHandle,
      current: SelectedFiles,
      byId: Map[DataFile.Id, AddFile]
  ): Either[Exception, Long] = {
    val transaction = handle.table.startTransaction(Some(CommitBase.of(handle.snapshot, current)))
    val removed = changes.flatMap(_.removed).map(byId)
    val added = changes.flatMap(_.added).map(NewFile.changed(_)(dataChange = false))
    val now = handle.now
    val actions: Seq[Action] =
      added ++ removed.map(_.removeWithTimestamp(now, dataChange = losesRows(handle)))
    transaction.trackFilesRead(removed.flatMap(current.ids.spellings))
    transaction.registerSQLMetrics(
      handle.session,
      FsckOperation.metrics(handle.session.sparkContext, removed.size, added.size)
    )
    val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(transaction.snapshot)
    // Other commits may add the same files.
    def landed(failure: Exception) = LandedCommit.version(handle, transaction, Nil, failure)
    try Right(transaction.commit(actions, new FsckOperation(mode), tags))
    catch {
      case conflict: ConcurrentModificationException => landed(conflict).toRight(conflict)
      case failure: IOException => Right(landed(failure).getOrElse(throw failure))
    }
  }

  /**
   * Streams have to learn that rows are gone. With a change data feed, its reader would look for the rows in the file
   * that is gone, so the feed does not show them.
   */
  private def losesRows(handle: DeltaHandle): Boolean =
    mode == FsckMode.Missing && !DeltaConfigs.CHANGE_DATA_FEED.fromMetaData(handle.snapshot.metadata)
}

private[repair] object RepairCommit {
  val Statement = "FSCK"
  private val MaxAttempts = 10

  /** An append-only table forbids that rows leave it (protocol, 'Append-only Tables'). */
  def requireRemovable(handle: DeltaHandle, mode: FsckMode): Unit =
    if (mode == FsckMode.Missing && DeltaConfigs.IS_APPEND_ONLY.fromMetaData(handle.snapshot.metadata))
      throw UpkeepErrors.fsckAppendOnly(handle.name)
}
