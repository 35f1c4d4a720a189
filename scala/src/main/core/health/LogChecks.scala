package io.deltaupkeep.health

import java.time.LocalDate

import scala.concurrent.duration.{DurationLong, FiniteDuration}

import io.deltaupkeep.{ByteText, CountText, FileTotal}
import io.deltaupkeep.log.LogFile
import io.deltaupkeep.plan.cleanup.{CleanupPlan, Verdict}

/** Checks of the log and its checkpoints. Pure. */
private[health] object LogChecks {

  def of(facts: HealthFacts): Seq[HealthResult] =
    Seq(
      checkpoint _,
      checkpointAge _,
      commitsSinceCheckpoint _,
      checkpointAfterCommit _,
      log _,
      expiredLog _,
      oldestVersion _
    ).map(check => check(facts))

  private def checkpoint(facts: HealthFacts): HealthResult = {
    val (severity, message) = facts.checkpoint match {
      case Some(newest) =>
        val files = facts.load.checkpoint
        val load = s"${CountText.of(files.files, "file")} of ${ByteText.of(files.bytes)}"
        Severity.Ok -> s"The newest checkpoint is ${newest.layout}, of version ${newest.version}: $load."
      case None => Severity.Info -> "The table has no checkpoint yet."
    }
    new Checks(facts.table).result(
      "checkpoint",
      severity,
      facts.checkpoint.map(_.version.toDouble),
      "version",
      message,
      "A reader that is new to the table loads its newest checkpoint and the commits since.",
      details = facts.checkpoint.map(_ => detail("load", "checkpoint", facts.load.checkpoint)).toSeq :+
        detail("load", "commits since", facts.load.commits)
    )
  }

  private def checkpointAge(facts: HealthFacts): HealthResult = {
    val hours = facts.checkpoint.map(newest => (facts.now - newest.writtenAt).max(0).toDouble / HourMs)
    new Checks(facts.table).result(
      "checkpointAge",
      Severity.Ok,
      hours,
      "hours",
      facts.checkpoint.fold("The table has no checkpoint yet.") { newest =>
        s"The newest checkpoint was written ${ageText((facts.now - newest.writtenAt).max(0).millis)} ago."
      },
      "Expired commits are kept until a checkpoint older than the cutoff replaces them."
    )
  }

  private def commitsSinceCheckpoint(facts: HealthFacts): HealthResult = {
    val limits = facts.table.checkpointLimits
    val commits = facts.since.commits
    val severity =
      if (commits > 10L * limits.commits) Severity.Critical
      else if (facts.checkpointDue.nonEmpty) Severity.Warning
      else Severity.Ok
    new Checks(facts.table).result(
      "commitsSinceCheckpoint",
      severity,
      Some(commits.toDouble),
      "commits",
      facts.checkpointDue.fold(
        s"${CountText.of(commits, "commit")} since the last checkpoint; " +
          s"delta.checkpointInterval is ${limits.commits}."
      )(why => s"A checkpoint is due: $why."),
      "Readers replay them one by one.",
      Some(table => s"CHECKPOINT $table")
    )
  }

  private def checkpointAfterCommit(facts: HealthFacts): HealthResult =
    new Checks(facts.table).result(
      "checkpointAfterCommit",
      if (facts.hook.exists(_.isFailure)) Severity.Warning else Severity.Ok,
      facts.hook.map(_.version.toDouble),
      "version",
      facts.hook.fold("No commit of this application has made a checkpoint due.")(_.message),
      "A checkpoint that fails after a commit leaves more commits to replay, and is retried after a later commit.",
      Some(table => s"CHECKPOINT $table")
    )

  private def log(facts: HealthFacts): HealthResult = {
    val totals = facts.cleanup.totals
    val size = totals.map(_.bytes).sum
    new Checks(facts.table).result(
      "log",
      Severity.Ok,
      Some(size.toDouble),
      "bytes",
      s"The log has ${CountText.of(totals.map(_.files).sum, "file")} of ${ByteText.of(size)}.",
      "Writers and readers list the log, and it takes up storage.",
      details = timeline(facts.cleanup)
    )
  }

  /**
   * Files by the day they were written. Each bar covers as many days as it takes to have at most sixty bars.
   */
  private def timeline(plan: CleanupPlan): Seq[HealthDetail] = {
    def dayOf(time: Long) = Math.floorDiv(time, DayMs)
    val days = plan.files.iterator.map(file => dayOf(file.modificationTime))
    val (first, last) = days.foldLeft((Long.MaxValue, Long.MinValue)) { case ((low, high), day) =>
      (low.min(day), high.max(day))
    }
    val width = if (plan.files.isEmpty) 1L else (last - first) / MostDays + 1
    totalsBy(plan.files)(file => (dayOf(file.modificationTime) - first) / width)
      .sortBy { case (bar, _) => bar }
      .map { case (bar, total) => detail("day", LocalDate.ofEpochDay(first + bar * width).toString, total) }
  }

  private def expiredLog(facts: HealthFacts): HealthResult = {
    val plan = facts.cleanup
    val count = plan.totals.filter(_.verdict == Verdict.Delete).map(_.files).sum
    // A checkpoint of this version replaces them once it is as old as the cutoff.
    val lacksCheckpoint = plan.needsCheckpoint && facts.since.commits > 0
    val severity =
      if (count >= 1000) Severity.Warning
      else if (count > 0 || lacksCheckpoint) Severity.Info
      else Severity.Ok
    new Checks(facts.table).result(
      "expiredLog",
      severity,
      Some(count.toDouble),
      "files",
      plan.message,
      "No version inside the retention needs them, but they are listed and take up storage.",
      Some(table => s"${if (lacksCheckpoint) "CHECKPOINT" else "CLEANUP LOG"} $table"),
      expiredByKind(plan)
    )
  }

  private def expiredByKind(plan: CleanupPlan): Seq[HealthDetail] =
    totalsBy(plan.deletions)(_.kind.name)
      .sortBy { case (kind, total) => (-total.files, kind) }
      .map { case (kind, total) => detail("expired", kind, total) }

  private def totalsBy[K](files: Seq[LogFile])(key: LogFile => K): Seq[(K, FileTotal)] =
    files.groupMapReduce(key)(file => FileTotal(1, file.sizeInBytes)) { (a, b) =>
      FileTotal(a.files + b.files, a.bytes + b.bytes)
    }.toSeq

  private def oldestVersion(facts: HealthFacts): HealthResult = {
    val oldest = facts.cleanup.oldestReadableVersion
    new Checks(facts.table).result(
      "oldestVersion",
      if (oldest.isEmpty) Severity.Critical else Severity.Ok,
      oldest.map(_.toDouble),
      "version",
      oldest.fold("No version can be read from the log.") { version =>
        s"The log holds versions $version to ${facts.table.version}, also after CLEANUP LOG. Time travel " +
          s"reaches back to version ${facts.cleanup.oldestTimeTravelVersion.getOrElse(version)}."
      },
      "Streams and the history need the log; time travel and RESTORE also need the data files, which VACUUM " +
        "keeps for delta.deletedFileRetentionDuration."
    )
  }

  private def detail(series: String, label: String, total: FileTotal): HealthDetail =
    HealthDetail(series, label, total.files, total.bytes)

  /** 90 minutes stay 90 minutes; 60 hours become 2 days. */
  private def ageText(age: FiniteDuration): String =
    if (age.toHours >= 48) CountText.of(age.toDays, "day")
    else if (age.toMinutes >= 120) CountText.of(age.toHours, "hour")
    else CountText.of(age.toMinutes, "minute")

  private val HourMs = 3600L * 1000
  private val DayMs = 24 * HourMs
  private val MostDays = 60
}
