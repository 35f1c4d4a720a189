package io.deltaupkeep.health

import io.deltaupkeep.{ByteText, TableFacts}
import io.deltaupkeep.checkpoint.{CheckpointDue, HookOutcome}
import io.deltaupkeep.cleanup.{CleanupPlan, Verdict}
import io.deltaupkeep.optimize.OptimizePlan

/** The newest complete checkpoint: its version and its layout in words. */
final case class NewestCheckpoint(version: Long, layout: String)

/** All that the checks look at: the table's state, what OPTIMIZE and CLEANUP LOG would do, and the log. */
final case class HealthFacts(
    table: TableFacts,
    optimize: OptimizePlan,
    cleanup: CleanupPlan,
    checkpoint: Option[NewestCheckpoint],
    hook: Option[HookOutcome]
)

/** Looks at a table's facts and says what they mean. Pure. */
object HealthCheck {

  def of(facts: HealthFacts): Seq[HealthResult] =
    Seq(
      files _,
      smallFiles _,
      deletedRows _,
      checkpoint _,
      commitsSinceCheckpoint _,
      checkpointAfterCommit _,
      log _,
      expiredLog _,
      oldestVersion _
    )
      .map(check => check(facts))

  private def files(facts: HealthFacts): HealthResult = {
    val sizes = facts.optimize.considered.map(_.sizeInBytes)
    val average = if (sizes.isEmpty) 0L else sizes.sum / sizes.size
    result(
      facts,
      "files",
      Severity.Ok,
      sizes.size,
      "files",
      s"The table has ${sizes.size} data files of ${ByteText.of(sizes.sum)} in all, ${ByteText.of(average)} on average."
    )
  }

  private def smallFiles(facts: HealthFacts): HealthResult = {
    val plan = facts.optimize
    val gain = plan.files.size - plan.bins.size
    val share = if (plan.considered.isEmpty) 0d else gain.toDouble / plan.considered.size
    val severity =
      if (plan.isEmpty) Severity.Ok
      else if (share < 0.1) Severity.Info
      else if (gain < 1000) Severity.Warning
      else Severity.Critical
    val message =
      if (plan.isEmpty) "No files are worth rewriting."
      else
        s"${plan.files.size} files could become ${plan.bins.size}: each costs a scan a request and a footer."
    result(facts, "smallFiles", severity, plan.files.size, "files", message, s"OPTIMIZE ${facts.table.name}")
  }

  private def deletedRows(facts: HealthFacts): HealthResult = {
    val files = facts.optimize.considered
    val deleted = files.map(_.deletedRows).sum
    val physical = files.flatMap(_.physicalRows).sum
    val percent = if (physical == 0) 0d else 100d * deleted / physical
    val severity = if (percent > 5) Severity.Warning else if (deleted > 0) Severity.Info else Severity.Ok
    val message =
      if (deleted == 0) "No rows are hidden by deletion vectors."
      else s"$deleted rows are hidden by deletion vectors: scans read them and drop them."
    result(facts, "deletedRows", severity, percent, "percent", message, s"OPTIMIZE ${facts.table.name}")
  }

  private def checkpoint(facts: HealthFacts): HealthResult = facts.checkpoint match {
    case Some(newest) =>
      val message = s"The newest checkpoint is ${newest.layout}, of version ${newest.version}."
      result(facts, "checkpoint", Severity.Ok, newest.version.toDouble, "version", message)
    case None =>
      result(facts, "checkpoint", Severity.Info, None, "version", "The table has no checkpoint yet.", None)
  }

  private def commitsSinceCheckpoint(facts: HealthFacts): HealthResult = {
    val table = facts.table
    val commits = CheckpointDue.commitsSince(table, facts.checkpoint.map(_.version))
    val severity =
      if (commits > 10L * table.checkpointInterval) Severity.Critical
      else if (commits > table.checkpointInterval) Severity.Warning
      else Severity.Ok
    val message = s"Readers replay $commits commits; delta.checkpointInterval is ${table.checkpointInterval}."
    result(
      facts,
      "commitsSinceCheckpoint",
      severity,
      commits.toDouble,
      "commits",
      message,
      s"CHECKPOINT ${table.name}"
    )
  }

  private def checkpointAfterCommit(facts: HealthFacts): HealthResult = {
    val message =
      facts.hook.fold("No commit of this application has made a checkpoint due.")(_.message)
    val severity = if (facts.hook.exists(_.isFailure)) Severity.Warning else Severity.Ok
    val remedy = Some(s"CHECKPOINT ${facts.table.name}")
    val version = facts.hook.map(_.version.toDouble)
    result(facts, "checkpointAfterCommit", severity, version, "version", message, remedy)
  }

  private def log(facts: HealthFacts): HealthResult = {
    val totals = facts.cleanup.totals
    val size = totals.map(_.bytes).sum
    val message = s"The log has ${totals.map(_.files).sum} files of ${ByteText.of(size)}."
    result(facts, "log", Severity.Ok, size.toDouble, "bytes", message)
  }

  private def expiredLog(facts: HealthFacts): HealthResult = {
    val expired = facts.cleanup.totals.filter(_.verdict == Verdict.Delete)
    val count = expired.map(_.files).sum
    val needsCheckpoint = facts.cleanup.needsCheckpoint
    val severity =
      if (count >= 1000) Severity.Warning
      else if (count > 0 || needsCheckpoint) Severity.Info
      else Severity.Ok
    val remedy = if (needsCheckpoint) "MAINTAIN" else "CLEANUP LOG"
    result(
      facts,
      "expiredLog",
      severity,
      count.toDouble,
      "files",
      facts.cleanup.message,
      s"$remedy ${facts.table.name}"
    )
  }

  private def oldestVersion(facts: HealthFacts): HealthResult = {
    val oldest = facts.cleanup.oldestReadableVersion
    val message = oldest.fold("No version can be read from the log.") { version =>
      s"Versions $version to ${facts.table.version} can be read, whatever CLEANUP LOG removes."
    }
    val severity = if (oldest.isEmpty) Severity.Critical else Severity.Ok
    result(facts, "oldestVersion", severity, oldest.map(_.toDouble), "version", message, None)
  }

  private def result(
      facts: HealthFacts,
      check: String,
      severity: Severity,
      value: Double,
      unit: String,
      message: String,
      remedy: String = ""
  ): HealthResult =
    result(facts, check, severity, Some(value), unit, message, Some(remedy).filter(_.nonEmpty))

  private def result(
      facts: HealthFacts,
      check: String,
      severity: Severity,
      value: Option[Double],
      unit: String,
      message: String,
      remedy: Option[String]
  ): HealthResult =
    HealthResult(
      facts.table.path,
      check,
      severity.name,
      value,
      unit,
      message,
      remedy.filter(_ => severity != Severity.Ok && !facts.table.catalogManaged)
    )
}
