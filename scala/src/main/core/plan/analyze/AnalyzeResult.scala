package io.deltaupkeep.plan.analyze

import io.deltaupkeep.plan.cleanup.ReasonSummary

/**
 * The result row of ANALYZE.
 *
 * @param path         root of the table
 * @param version      last version that was committed; none if no statistics changed
 * @param filesRead    files that were read, or would be
 * @param bytesRead    their size
 * @param filesUpdated files with new statistics; none in a dry run, which reads nothing
 * @param reasons      the files that were selected, by verdict (`read` or `keep`) and reason
 * @param message      what was read, or why nothing was
 */
final case class AnalyzeResult(
    path: String,
    dryRun: Boolean,
    version: Option[Long],
    filesRead: Long,
    bytesRead: Long,
    filesUpdated: Option[Long],
    reasons: Seq[ReasonSummary],
    message: String
)

object AnalyzeResult {

  /** @param root of the table */
  def planned(root: String, plan: AnalyzePlan): AnalyzeResult = of(root, plan, None, None)

  /** @param updated number of files with new statistics */
  def done(root: String, plan: AnalyzePlan, version: Option[Long], updated: Long): AnalyzeResult =
    of(root, plan, version, Some(updated))

  private def of(
      root: String,
      plan: AnalyzePlan,
      version: Option[Long],
      updated: Option[Long]
  ): AnalyzeResult =
    AnalyzeResult(
      root,
      updated.isEmpty,
      version,
      plan.toRead.size.toLong,
      plan.toRead.map(_.sizeInBytes).sum,
      updated,
      plan.files.groupBy(_.reason).toSeq.map { case (reason, some) =>
        ReasonSummary(
          if (reason.isRead) "read" else "keep",
          reason.text,
          some.size.toLong,
          some.map(_.sizeInBytes).sum
        )
      }.sortBy(summary => (summary.verdict, summary.reason)),
      plan.message
    )
}
