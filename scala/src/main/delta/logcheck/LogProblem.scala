package org.apache.spark.sql.delta.upkeep.logcheck

import java.io.IOException

import io.deltaupkeep.plan.repair.{FileKind, FsckAction, FsckMode, LogFinding}

import org.apache.hadoop.fs.Path

/** @param isCertain whether the file is damaged; otherwise the store did not return it */
private[logcheck] final case class Flaw(why: String, isCertain: Boolean)

/**
 * A file of the log with a problem.
 *
 * @param version of the checkpoint or the checksum; None for `_last_checkpoint`
 * @param repair  returns why it did nothing, if so; None if nothing can be done
 */
private[upkeep] final case class LogProblem(
    version: Option[Long],
    finding: LogFinding,
    repair: Option[() => Option[String]]
) {

  /** Repairs it, unless only a report was asked for, and tells what became of it. */
  def repaired(): LogFinding =
    if (finding.action == FsckAction.Nothing) finding
    else repair.flatMap(_()).fold(finding)(without(_).finding)

  def without(advice: String): LogProblem =
    LogProblem(version, finding.copy(action = FsckAction.Nothing, advice = advice), None)
}

/** Puts problems of the files of one log into words. */
private[logcheck] final class LogProblems(log: Path, mode: FsckMode) {

  /** @param repair what is done, or why nothing is */
  def problem(
      version: Option[Long],
      kind: FileKind,
      file: String,
      name: String,
      found: String,
      repair: Either[String, () => Option[String]],
      action: FsckAction = FsckAction.Rewrite
  ): LogProblem = {
    val (done, advice) = LogFinding.actionOf(mode, repair.map(_ => action))
    val finding = LogFinding(kind, new Path(log, file).toString, name, found, done, advice)
    LogProblem(version, finding, repair.toOption)
  }
}

private[logcheck] object LogProblems {

  /** Matches a failure of the store, here or in a task, which says nothing about the file. */
  object OfStore {
    def unapply(failure: Throwable): Option[String] =
      Iterator.iterate(failure)(_.getCause).takeWhile(_ != null)
        .collectFirst { case e: IOException => e.toString }
  }

  val Missing = "missing"
  val Damaged = "damaged"
  val Unknown = "unknown"

  val Overtaken = "another writer changed the table or the file meanwhile, so it was left alone"

  val NotWritten = "it could not be written; the log of the driver says why"

  val AskAgain = "run the statement again once the store answers"
}
