package io.deltaupkeep.plan.cleanup

import java.sql.Timestamp

import io.deltaupkeep.store.Deletions

/** Files with one verdict for one reason. */
final case class ReasonSummary(verdict: String, reason: String, files: Long, bytes: Long)

/**
 * A result row of CLEANUP LOG. A real run returns one row with the totals, whose `file` is null. A dry run
 * returns one row for each file first.
 *
 * @param path         root of the table
 * @param file         name below `_delta_log`
 * @param kind         of the file, in the protocol's words
 * @param version      of the table that the file belongs to, if its name says so
 * @param verdict      `delete` or `keep`
 * @param ageHours     since the file was last modified
 * @param filesDeleted files that were deleted, or would be; a real run does not count files that somebody
 *                     else deleted
 * @param bytesDeleted their size
 * @param reasons      all files by verdict and reason
 * @param cutoff       older files may be deleted, if every newer version stays readable
 * @param cutoffVersion newest version that is not newer than the cutoff
 * @param oldestReadableVersion oldest version that the log can read after the cleanup; null if there is none
 * @param oldestTimeTravelVersion oldest version whose data files exist too: it is inside
 *                                `delta.deletedFileRetentionDuration`. Delta refuses older versions
 * @param message      what is deleted and why, or why nothing is deleted
 */
final case class CleanupResult(
    path: String,
    dryRun: Boolean,
    file: Option[String],
    kind: Option[String],
    version: Option[Long],
    verdict: Option[String],
    reason: Option[String],
    sizeInBytes: Option[Long],
    ageHours: Option[Double],
    filesDeleted: Option[Long],
    bytesDeleted: Option[Long],
    filesKept: Option[Long],
    bytesKept: Option[Long],
    reasons: Seq[ReasonSummary],
    cutoff: Option[Timestamp],
    cutoffVersion: Option[Long],
    oldestReadableVersion: Option[Long],
    oldestTimeTravelVersion: Option[Long],
    message: Option[String]
)

object CleanupResult {
  private val HourMs = 3600000d

  def file(path: String, verdict: FileVerdict, now: Long): CleanupResult = empty(path, dryRun = true).copy(
    file = Some(verdict.file.path),
    kind = Some(verdict.file.kind.name),
    version = verdict.file.kind.version,
    verdict = Some(verdict.verdict.name),
    reason = Some(verdict.reason.text),
    sizeInBytes = Some(verdict.file.sizeInBytes),
    ageHours = Some((now - verdict.file.modificationTime) / HourMs)
  )

  def planned(path: String, plan: CleanupPlan): CleanupResult = {
    val gone = plan.totals.filter(_.verdict == Verdict.Delete)
    totals(path, plan, Deletions(gone.map(_.files).sum, gone.map(_.bytes).sum)).copy(dryRun = true)
  }

  /** @param unwritten why what commits removed was not written down for VACUUM, or None */
  def totals(
      path: String,
      plan: CleanupPlan,
      deletions: Deletions,
      unwritten: Option[String] = None
  ): CleanupResult = {
    val kept = plan.totals.filter(_.verdict == Verdict.Keep)
    empty(path, dryRun = false).copy(
      filesDeleted = Some(deletions.files),
      bytesDeleted = Some(deletions.bytes),
      filesKept = Some(kept.map(_.files).sum),
      bytesKept = Some(kept.map(_.bytes).sum),
      reasons = plan.totals.map(t => ReasonSummary(t.verdict.name, t.reason.text, t.files, t.bytes)),
      cutoff = Some(new Timestamp(plan.cutoff)),
      cutoffVersion = plan.cutoffCommit,
      oldestReadableVersion = plan.oldestReadableVersion,
      oldestTimeTravelVersion = plan.oldestTimeTravelVersion,
      message = Some(plan.message + unwritten.fold("") { why =>
        s" That failed, so the next VACUUM will list all directories: $why"
      })
    )
  }

  private def empty(path: String, dryRun: Boolean): CleanupResult =
    CleanupResult(
      path,
      dryRun,
      file = None,
      kind = None,
      version = None,
      verdict = None,
      reason = None,
      sizeInBytes = None,
      ageHours = None,
      filesDeleted = None,
      bytesDeleted = None,
      filesKept = None,
      bytesKept = None,
      reasons = Nil,
      cutoff = None,
      cutoffVersion = None,
      oldestReadableVersion = None,
      oldestTimeTravelVersion = None,
      message = None
    )
}
