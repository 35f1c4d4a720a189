package org.apache.spark.sql.delta.upkeep.logcheck

import java.io.IOException

import io.deltaupkeep.CountText
import io.deltaupkeep.log.{CheckpointSet, LogDirectory, LogFile}
import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode}
import io.deltaupkeep.plan.repair.{FileKind, FsckSettings}

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.checkpoint.{ReadableLog, TableCheckpoint}
import org.apache.spark.sql.delta.upkeep.read._
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

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
  private val whole = new WholeCheckpoint(table)
  private val texts = new LogProblems(table.logPath, settings.mode)

  private val checkpoints: Map[Long, Seq[CheckpointSet]] = {
    val first = if (settings.deep) 0L else math.max(0L, snapshot.checkpointProvider.version)
    val files = ListedLog
      .between(snapshot.deltaLog.store, table.logPath, table.hadoopConf, first, snapshot.version)
      .map(file => LogFile(LogDirectory.Root, file.getPath.getName, file.getLen, file.getModificationTime))
    CheckpointSet.allOf(files.toVector, Map.empty).groupBy(_.version)
      .map { case (version, sets) => version -> relevant(sets) }.filter(_._2.nonEmpty)
  }

  /** Readers pass over incomplete ones. One in parts may still be written, if `_last_checkpoint` does not name it yet. */
  private def relevant(sets: Seq[CheckpointSet]): Seq[CheckpointSet] = {
    lazy val named = new CheckpointPointer(table).version
    if (sets.exists(_.isComplete)) sets.filter(_.isComplete)
    else sets.filter(set => set.files.size == 1 || named.exists(set.version <= _))
  }

  /** Of checkpoints, and of the checksums that contradict them; the oldest first. */
  val problems: Seq[LogProblem] = checkpoints.toSeq.sortBy(_._1).flatMap { case (version, sets) =>
    val flawed = sets.flatMap(set => flawOf(set).map(Flawed(set, _)))
    if (flawed.isEmpty) Nil else judged(version, flawed)
  }

  /** The versions whose checkpoints are whole, or will be. */
  def usable: Set[Long] = {
    val unusable =
      problems.filter(found => found.finding.kind == FileKind.Checkpoint && found.repair.isEmpty).flatMap(
        _.version
      )
    checkpoints.keySet -- unusable
  }

  private def flawOf(set: CheckpointSet): Option[Flaw] = {
    def files = set.files.map(DeltaLogReader.statusOf(table, _))
    if (!set.isComplete)
      Some(Flaw("a file of it is missing, or has no bytes", isCertain = true))
    else
      try
        whole.check(set.version, CheckpointFiles.checkpoint(table, files), pages) match {
          case Wholeness.Damaged(why, _) => Some(Flaw(why, isCertain = true))
          // Readers can use it.
          case Wholeness.Whole | Wholeness.Unproved(_) => None
        }
      catch { case e: IOException => Some(Flaw(e.toString, isCertain = false)) }
  }

  /** What is wrong at a version with checkpoints that do not seem to be whole. */
  private def judged(version: Long, flawed: Seq[Flawed]): Seq[LogProblem] = {
    def none(why: String) = flawed.map(problem(_, Left(why)))
    if (!flawed.forall(_.flaw.isCertain)) none(AskAgain)
    else if (table.facts.checkpointProtectionVersion.exists(version < _)) none(Protected)
    else log.without(version).fold(none(NoCommits))(judged(version, flawed, _))
  }

  /** @param commits the version, read without any of the files that may be wrong */
  private def judged(version: Long, flawed: Seq[Flawed], commits: Snapshot): Seq[LogProblem] = {
    val truth = commits.computeChecksum
    val handle = DeltaHandle.of(
      table.session,
      ChecksumFile.withChecksum(commits, Some(truth)),
      table.table.catalogTable
    )
    val anew = TableCheckpoint(handle, AsUsual, pages = pages)
    val replaced = anew.plan.damaged.flatMap(_.files).toSet
    val (damaged, asTheCommits) =
      flawed.partition(of => !of.set.isComplete || of.set.files.exists(file => replaced(file.name)))
    val accused = asTheCommits.headOption.map(_.flaw.why)
    val contradiction = if (accused.isEmpty) checksums.contradiction(version, truth) else None
    damaged.map(problem(_, contradiction.toLeft(() => { anew.write(); () }))) ++
      checksums.problem(version, truth, accused)
  }

  private def problem(flawed: Flawed, repair: Either[String, () => Unit]): LogProblem = {
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

  private val AsUsual = CheckpointRequest(None, None, None, Mode.Auto)

  private val Protected = "the feature checkpointProtection forbids new checkpoints of versions that old"

  private val NoCommits =
    "it cannot be written anew: there is no whole checkpoint of an older version, and commits before it are gone. " +
      "Restore its files from a copy of the table"
}
