package io.deltaupkeep.plan.repair

/**
 * A result row of FSCK: one for each data file with a problem, then one for each file of the log with a problem, and
 * finally one with the totals, whose `kind` is null.
 * Columns with the names of Databricks' FSCK REPAIR TABLE mean the same.
 *
 * @param path         root of the table
 * @param kind         `data file`, `deletion vector`, `checkpoint`, `last checkpoint` or `checksum`: what has the problem
 * @param deletionVectorPath null if the vector is in the log
 * @param problem      `missing`, `unknown`, `wrong size`, `wrong row count` or `damaged`
 * @param logFilePath  of a checkpoint in parts, the first one
 * @param action       `remove`, `restore`, `rewrite` or `none`; in a dry run, what would be done
 * @param reason       what was found, why the action, and what to do next
 * @param sizeInBytes  of the data file, as the log says
 * @param rows         of the file, without deleted ones; null if the log does not say
 * @param filesChecked data files of the newest version
 * @param bytesChecked their size, as the log says
 * @param findings     files with a problem, those of the log included
 * @param rowsGone     rows of missing files that are not restored; null if the log does not say
 * @param version      that was committed; null if none was
 */
final case class FsckResult(
    path: String,
    dryRun: Boolean,
    kind: Option[String],
    dataFilePath: Option[String],
    dataFileMissing: Option[Boolean],
    deletionVectorPath: Option[String],
    deletionVectorFileMissing: Option[Boolean],
    logFilePath: Option[String],
    problem: Option[String],
    action: Option[String],
    reason: Option[String],
    sizeInBytes: Option[Long],
    rows: Option[Long],
    filesChecked: Option[Long],
    bytesChecked: Option[Long],
    findings: Option[Long],
    rowsGone: Option[Long],
    version: Option[Long],
    message: Option[String]
)

object FsckResult {

  /**
   * All rows.
   *
   * @param root of the table
   */
  def of(root: String, plan: FsckPlan, dryRun: Boolean, version: Option[Long]): Seq[FsckResult] =
    plan.findings.map(found(root, dryRun, _)) ++ plan.log.map(foundInLog(root, dryRun, _)) :+ empty(
      root,
      dryRun
    ).copy(
      filesChecked = Some(plan.files),
      bytesChecked = Some(plan.bytes),
      findings = Some(plan.findings.size.toLong + plan.log.size),
      rowsGone = plan.rowsGone,
      version = version,
      message = Some(plan.message)
    )

  private def found(root: String, dryRun: Boolean, finding: Finding): FsckResult =
    empty(root, dryRun).copy(
      kind = Some(finding.problem.kind.name),
      dataFilePath = Some(finding.file.path),
      dataFileMissing = Some(finding.problem == Problem.DataGone),
      deletionVectorPath = finding.file.vector.map(_.path),
      deletionVectorFileMissing = Some(finding.vectorGone),
      problem = Some(finding.problem.name),
      action = Some(finding.action.name),
      reason = Some(finding.reason),
      sizeInBytes = Some(finding.file.sizeInBytes),
      rows = finding.file.rows
    )

  private def foundInLog(root: String, dryRun: Boolean, finding: LogFinding): FsckResult =
    empty(root, dryRun).copy(
      kind = Some(finding.kind.name),
      logFilePath = Some(finding.path),
      problem = Some(finding.problem),
      action = Some(finding.action.name),
      reason = Some(finding.reason)
    )

  private def empty(path: String, dryRun: Boolean): FsckResult = FsckResult(
    path,
    dryRun,
    kind = None,
    dataFilePath = None,
    dataFileMissing = None,
    deletionVectorPath = None,
    deletionVectorFileMissing = None,
    logFilePath = None,
    problem = None,
    action = None,
    reason = None,
    sizeInBytes = None,
    rows = None,
    filesChecked = None,
    bytesChecked = None,
    findings = None,
    rowsGone = None,
    version = None,
    message = None
  )
}
