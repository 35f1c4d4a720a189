package io.deltaupkeep.plan.vacuum

import java.sql.Timestamp

import io.deltaupkeep.plan.cleanup.{ReasonSummary, Verdict}
import io.deltaupkeep.store.Deletions

/**
 * A result row of VACUUM. A real run returns one row with the totals, whose `kind` is null. A dry run returns one row
 * for each file that no version inside retention names first.
 *
 * @param path         of the file, or root of the table, as in Delta
 * @param kind         `file` or `directory`
 * @param verdict      `delete` or `keep`
 * @param ageHours     since the file was last modified, or, with `mode = 'log'`, since it was removed
 * @param filesDeleted files and directories that were deleted, or would be; a real run does not count those that
 *                     somebody else deleted
 * @param bytesDeleted their size
 * @param reasons      all files by verdict and reason
 * @param mode         `log`, `full` or `inventory`: where the files were found
 * @param cutoff       older files may be deleted
 * @param oldestTimeTravelVersion oldest version in the log of which all files are kept
 * @param message      how the files were found, and what is deleted
 */
final case class VacuumResult(
    path: String,
    dryRun: Boolean,
    kind: Option[String],
    verdict: Option[String],
    reason: Option[String],
    sizeInBytes: Option[Long],
    ageHours: Option[Double],
    filesDeleted: Option[Long],
    bytesDeleted: Option[Long],
    filesKept: Option[Long],
    reasons: Seq[ReasonSummary],
    mode: Option[String],
    cutoff: Option[Timestamp],
    oldestTimeTravelVersion: Option[Long],
    message: Option[String]
)

object VacuumResult {
  private val HourMs = 3600000d

  /** @param root of the table */
  def file(root: String, verdict: VacuumVerdict, now: Long): VacuumResult =
    empty(s"$root/${verdict.file.path}", dryRun = true).copy(
      kind = Some(if (verdict.file.isDirectory) "directory" else "file"),
      verdict = Some(verdict.reason.verdict.name),
      reason = Some(verdict.reason.text),
      sizeInBytes = Some(verdict.file.sizeInBytes),
      ageHours = Some((now - verdict.file.modificationTime) / HourMs)
    )

  def planned(root: String, plan: VacuumPlan, oldestVersion: Option[Long]): VacuumResult =
    totals(root, plan, Deletions(plan.deletions.size.toLong, plan.deletedBytes), oldestVersion).copy(dryRun =
      true
    )

  /** @param unwritten why the history lacks an entry, or None */
  def totals(
      root: String,
      plan: VacuumPlan,
      deletions: Deletions,
      oldestVersion: Option[Long],
      unwritten: Option[String] = None
  ): VacuumResult = {
    val found = plan.totals
    val kept = found.collect { case (reason, files, _) if reason.verdict == Verdict.Keep => files }
    empty(root, dryRun = false).copy(
      filesDeleted = Some(deletions.files),
      bytesDeleted = Some(deletions.bytes),
      filesKept = Some(kept.sum),
      reasons = found.map { case (reason, files, bytes) =>
        ReasonSummary(reason.verdict.name, reason.text, files, bytes)
      },
      mode = Some(plan.source.mode.name),
      cutoff = Some(new Timestamp(plan.cutoff)),
      oldestTimeTravelVersion = oldestVersion,
      message = Some(plan.message + unwritten.fold("")(why => s"; not entered in the history: $why"))
    )
  }

  private def empty(path: String, dryRun: Boolean): VacuumResult = VacuumResult(
    path,
    dryRun,
    kind = None,
    verdict = None,
    reason = None,
    sizeInBytes = None,
    ageHours = None,
    filesDeleted = None,
    bytesDeleted = None,
    filesKept = None,
    reasons = Nil,
    mode = None,
    cutoff = None,
    oldestTimeTravelVersion = None,
    message = None
  )
}
