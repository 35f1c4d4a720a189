package org.apache.spark.sql.delta.upkeep.logcheck

import scala.util.control.NonFatal

import io.deltaupkeep.CountText
import io.deltaupkeep.log.{CheckpointSet, LogFileKind}
import io.deltaupkeep.plan.checkpoint.CheckpointRequest
import io.deltaupkeep.plan.repair.{FileKind, FsckSettings}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.checkpoint.{ReadableLog, TableCheckpoint}
import org.apache.spark.sql.delta.upkeep.read._
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures, Intent}

/**
 * Finds checkpoints that are damaged.
 *
 * If a checkpoint and the checksum of its version differ, the commits tell which of them is wrong. If these say
 * something else than both, or are gone, nothing is certain, and nothing is done.
 */
private[logcheck] final class CheckpointCheck(
    table: DeltaHandle,
    settings: FsckSettings,
    pages: Boolean,
    log: ReadableLog
) {
  import CheckpointCheck._
  import LogProblems._

  private val snapshot = table.snapshot
  private val checksums = new ChecksumCheck(table, settings)
  private val texts = new LogProblems(table.logPath, settings.mode)

  private val first = if (settings.deep) 0L else math.max(0L, snapshot.checkpointProvider.version)

  private lazy val checkpoints: Map[Long, Seq[CheckpointSet]] = {
    val files = ListedLog
      .between(snapshot.deltaLog.store, table.logPath, table.hadoopConf, first, snapshot.version)
      .map(DeltaLogReader.fileOf)
    CheckpointSet.allOf(files.toVector, Map.empty).groupBy(_.version)
      .map { case (version, sets) => version -> relevant(sets) }.filter(_._2.nonEmpty)
  }

  /** Readers pass over incomplete ones. Those in parts may be unfinished, unless `_last_checkpoint` names them. */
  private def relevant(sets: Seq[CheckpointSet]): Seq[CheckpointSet] = {
    def isInParts(set: CheckpointSet) = set.files.exists(_.kind.isInstanceOf[LogFileKind.CheckpointPart])
    if (sets.exists(_.isComplete)) sets.filter(_.isComplete)
    else sets.filter(set => !isInParts(set) || named.contains(set.version))
  }

  private lazy val named: Option[Long] =
    try new CheckpointPointer(table).version
    catch { case OfStore(_) => None }

  /** Of checkpoints, and of the checksums that contradict them; the oldest first. */
  lazy val problems: Seq[LogProblem] = checkpoints.toSeq.sortBy(_._1).flatMap { case (version, sets) =>
    val flawed = sets.flatMap(set => flawOf(set).map(Flawed(set, _)))
    if (flawed.isEmpty) Nil else judged(version, flawed)
  }

  /** The versions whose checkpoints are whole, or will be if these problems are repaired. */
  def usable(problems: Seq[LogProblem]): Set[Long] = {
    val left = problems.filter(found => found.finding.kind == FileKind.Checkpoint && found.repair.isEmpty)
    checkpoints.keySet -- left.flatMap(_.version)
  }

  /** The version of the newest checkpoint that was not looked at. */
  def unseen: Option[Long] =
    if (first == 0) None else snapshot.deltaLog.findLastCompleteCheckpointBefore(first).map(_.version)

  private def flawOf(set: CheckpointSet): Option[Flaw] = {
    def files = set.files.map(DeltaLogReader.statusOf(table, _))
    if (!set.isComplete)
      Some(Flaw("a file of it is missing, or has no bytes", isCertain = true))
    else
      try
        log.wholeness(set.version, files) match {
          case Wholeness.Damaged(why, _) => Some(Flaw(why, isCertain = true))
          // Readers can use it.
          case Wholeness.Whole | Wholeness.Unproved(_) => None
        }
      catch { case OfStore(why) => Some(Flaw(why, isCertain = false)) }
  }

  /** A cleanup may have deleted it since it was listed. */
  private def isThere(set: CheckpointSet): Boolean = {
    val fs = table.logPath.getFileSystem(table.hadoopConf)
    set.files.forall(file => fs.exists(new Path(table.logPath, file.name)))
  }

  /** What is wrong at a version with checkpoints that do not seem to be whole. */
  private def judged(version: Long, flawed: Seq[Flawed]): Seq[LogProblem] = {
    def none(why: String) = flawed.map(problem(_, Left(why)))
    try
      if (!flawed.forall(_.flaw.isCertain)) none(AskAgain)
      else flawed.filter(of => isThere(of.set)) match {
        case Nil => Nil
        case found => log.without(version).fold(none(NoCommits)) { commits =>
            obstacle(commits).fold(judged(version, found, commits))(none)
          }
      }
    catch {
      case NonFatal(e) if InputFailures.damageOfLog(e).nonEmpty =>
        none(s"$NoCommits (${InputFailures.damageOfLog(e).mkString})")
      case OfStore(_) => none(AskAgain)
    }
  }

  /** Why no checkpoint of an older version can be written, or None. */
  private def obstacle(commits: Snapshot): Option[String] = {
    def retentions(of: Snapshot) = Retentions.map(of.metadata.configuration.get)
    if (table.facts.checkpointProtectionVersion.exists(commits.version < _)) Some(Protected)
    else if (retentions(commits) != retentions(snapshot)) Some(OtherRetention)
    else table.at(commits).refusal("FSCK", Intent.Checkpoint).map(_.getMessage)
  }

  /** @param commits the version, read without any of the files that may be wrong */
  private def judged(version: Long, flawed: Seq[Flawed], commits: Snapshot): Seq[LogProblem] = {
    val truth = ChecksumFile.of(commits)
    val handle = table.at(ChecksumFile.withChecksum(commits, Some(truth)))
    val anew = TableCheckpoint(handle, CheckpointRequest.Default, pages = pages)
    val replaced = anew.plan.damaged.flatMap(_.files).toSet
    val (damaged, asTheCommits) =
      flawed.partition(of => !of.set.isComplete || of.set.files.exists(file => replaced(file.name)))
    val contradiction = checksums.contradiction(version, truth)
    val accused = contradiction.flatMap(_ => asTheCommits.headOption).map(_.flaw.why)
    val doubt = if (accused.isEmpty) contradiction else None
    def write(): Option[String] =
      try { anew.write(); None }
      finally handle.snapshot.uncache()
    damaged.map(problem(_, doubt.toLeft(() => write()))) ++
      checksums.problem(version, truth, accused)
  }

  private def problem(flawed: Flawed, repair: Either[String, () => Option[String]]): LogProblem = {
    import flawed.{flaw, set}
    val parts = if (set.files.size > 1) s", in ${CountText.of(set.files.size, "part")}," else ""
    val what = s"the checkpoint of version ${set.version}$parts"
    texts.problem(
      Some(set.version),
      FileKind.Checkpoint,
      set.files.map(_.name).min,
      if (flaw.isCertain) Damaged else Unknown,
      if (flaw.isCertain) s"$what is damaged: ${flaw.why}"
      else s"the store did not return $what: ${flaw.why}",
      repair
    )
  }
}

private object CheckpointCheck {

  private final case class Flawed(set: CheckpointSet, flaw: Flaw)

  private val Protected = "the feature checkpointProtection forbids new checkpoints of versions that old"

  private val NoCommits =
    "it cannot be written anew: there is no whole checkpoint of an older version, and commits before it are gone or " +
      "damaged. Restore its files from a copy of the table"

  /** Old transactions and tombstones are left out by them (protocol, 'Checkpoints'). */
  private val Retentions = Seq("delta.deletedFileRetentionDuration", "delta.setTransactionRetentionDuration")

  private val OtherRetention =
    s"it cannot be written anew: ${Retentions.mkString(" or ")} has been changed since, so it is not known which " +
      "transactions and tombstones it had"
}
