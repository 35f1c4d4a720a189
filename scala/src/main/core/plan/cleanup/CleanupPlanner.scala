package io.deltaupkeep.plan.cleanup

import java.time.Instant
import java.time.temporal.ChronoUnit

import io.deltaupkeep.log.{CheckpointSet, CommitTimes, KnownRemovals, LogFile, LogFileKind, SidecarReferences}

/**
 * Decides which files of a log may be deleted (protocol, 'Metadata Cleanup', steps 2 to 5). Pure.
 *
 * The cutoff checkpoint is the newest complete checkpoint at or before the cutoff commit. That checkpoint and
 * everything from its version on is kept, so every version inside the retention stays readable.
 *
 * Memory, besides the listing: about 200 bytes for each file of a checkpoint and 50 for each other file. Half
 * a million commits take 25 MB.
 */
object CleanupPlanner {

  def plan(input: CleanupInput): CleanupPlan = {
    val commits = CommitTimes.of(input.files.iterator)
    val ofCheckpoints = input.files.iterator.filter(isOfCheckpoint).toVector
    val checkpoints = CheckpointSet.allOf(ofCheckpoints, input.sidecarReferences)
    val unreadable = checkpoints.filter(_.files.exists(input.isUnreadable)).map(_.version).toSet
    val newest = newestToStandOn(input.cutoffCommit, commits, checkpoints, unreadable)
    val cutoffCheckpoint =
      newestToStandOn(
        input.cutoffCommit.map(commit => (input.pointed ++ Seq(commit)).min),
        commits,
        checkpoints,
        unreadable
      )
    val others = new OtherFiles(input, checkpoints, cutoffCheckpoint)
    val keptCheckpoints = ofCheckpoints.filter { file =>
      file.kind != LogFileKind.Sidecar && others.reason(file).verdict == Verdict.Keep
    }
    val sidecars = new Sidecars(input, keptCheckpoints)
    val keptSidecars = ofCheckpoints.filter { file =>
      file.kind == LogFileKind.Sidecar && sidecars.reason(file).verdict == Verdict.Keep
    }
    val reasons = new Reasons(input.files.size)
    input.files.iterator.zipWithIndex.foreach { case (file, i) =>
      reasons(i) = if (file.kind == LogFileKind.Sidecar) sidecars.reason(file) else others.reason(file)
    }
    val complete = CheckpointSet
      .allOf(keptCheckpoints ++ keptSidecars, input.sidecarReferences)
      .filter(_.isComplete)
      .map(_.version)
    val oldest = Readability.oldest(commits.from(cutoffCheckpoint.getOrElse(0L)), complete)
    new CleanupPlan(
      input.cutoff,
      input.cutoffCommit,
      cutoffCheckpoint,
      input.files,
      reasons,
      oldest,
      oldest.flatMap(inLog => commits.newest.map(timeTravel(inLog, _, input.lastCommitPastTravel))),
      cutoffCheckpoint.flatMap(unseenBefore(_, input)),
      newest
        .filter(_ => newest != cutoffCheckpoint)
        .flatMap(version =>
          input.pointed.map(named => PassedOver(version, s"_last_checkpoint names version $named"))
        )
        .orElse(input.cutoffCommit.flatMap(input.passedOver(from = cutoffCheckpoint.getOrElse(-1L), _)))
    )
  }

  /** The newest version can always be read. */
  private def timeTravel(inLog: Long, newest: Long, past: Option[Long]): Long =
    math.max(inLog, math.min(newest, past.fold(0L)(_ + 1)))

  /** Versions before one of which VACUUM reads what they removed from nothing but commits, if it can read that at all. */
  private def unseenBefore(version: Long, input: CleanupInput): Option[UnseenByVacuum] = {
    val known = KnownRemovals.of(input.files)
    known.firstUnseen(input.vacuum.lastVersion).map(known.unrecordedFrom).filter(_ < version).map { first =>
      UnseenByVacuum(first, version - 1, input.vacuum.isUsed)
    }
  }

  private def isOfCheckpoint(file: LogFile): Boolean = file.kind match {
    case LogFileKind.Sidecar | _: LogFileKind.ClassicCheckpoint | _: LogFileKind.CheckpointPart |
        _: LogFileKind.V2Checkpoint => true
    case _ => false
  }

  /**
   * Its commit has to exist too: the protocol keeps it, because a checkpoint does not hold the commit's
   * provenance. Of several checkpoints of a version Delta chooses one by its name. If it fails on that one, it looks
   * for an older version, not for the others.
   *
   * @param unreadable versions with a checkpoint that cannot be read
   */
  private def newestToStandOn(
      upTo: Option[Long],
      commits: CommitTimes,
      checkpoints: Seq[CheckpointSet],
      unreadable: Set[Long]
  ): Option[Long] =
    upTo.flatMap { last =>
      checkpoints
        .filter(set => set.isComplete && set.version <= last && commits.contains(set.version))
        .map(_.version)
        .filterNot(unreadable)
        .maxOption
    }

  /** Whether it was modified since yesterday began (UTC), and so may belong to a write in progress. */
  private def isYoung(file: LogFile, now: Long): Boolean = {
    val midnight = Instant.ofEpochMilli(now).truncatedTo(ChronoUnit.DAYS)
    file.modificationTime >= midnight.minus(1, ChronoUnit.DAYS).toEpochMilli
  }

  /** The verdict on all files except sidecars, which follows from the file's name and the cutoff checkpoint. */
  private final class OtherFiles(
      input: CleanupInput,
      checkpoints: Seq[CheckpointSet],
      cutoffCheckpoint: Option[Long]
  ) {

    private val reasonToStay: Reason = (input.cutoffCommit, cutoffCheckpoint) match {
      case (None, _) => Reason.NoCommitExpired
      case (_, None) => Reason.NoCheckpoint
      case _ => Reason.InsideRetention
    }

    /**
     * checkpointProtection allows two kinds of cleanup: one that deletes all history before a version P at
     * once, and one that neither creates nor deletes checkpoints at or after the version that it cleans up to.
     * This cleanup ends at an existing checkpoint. If that is before P, no checkpoint after it may be
     * deleted, not even an incomplete one.
     */
    private val isProtected: Boolean =
      input.checkpointProtectionVersion.exists(_ > cutoffCheckpoint.getOrElse(0L))

    /** Files of checkpoints that no reader can use, with the verdict on the whole checkpoint. */
    private val incomplete: Map[LogFile, Reason] = checkpoints
      .filterNot(set => set.isComplete || set.files.exists(input.isUnreadable))
      .flatMap { set =>
        val reason =
          if (isProtected) Reason.Protected
          else if (set.files.exists(isYoung(_, input.now))) Reason.Young
          else Reason.IncompleteCheckpoint
        set.files.map(_ -> reason)
      }
      .toMap

    def reason(file: LogFile): Reason = file.kind match {
      case LogFileKind.Temporary => if (isYoung(file, input.now)) Reason.Young else Reason.AbandonedTemporary
      case LogFileKind.LastCheckpoint => Reason.Pointer
      case LogFileKind.RemovedFiles(_, last) =>
        if (input.vacuum.lastVersion.exists(last <= _)) Reason.ReadByVacuum else Reason.ForVacuum
      case LogFileKind.Unknown | LogFileKind.Sidecar => Reason.Foreign
      case LogFileKind.LogCompaction(start, _) if cutoffCheckpoint.exists(start <= _) =>
        Reason.CoveredByCutoff
      case LogFileKind.StagedCommit(version, _) if cutoffCheckpoint.exists(version <= _) =>
        Reason.CoveredByCutoff
      case _: LogFileKind.LogCompaction | _: LogFileKind.StagedCommit => reasonToStay
      case versioned if versioned.version.exists(version => cutoffCheckpoint.exists(version < _)) =>
        Reason.BeforeCutoff
      case _ => incomplete.getOrElse(file, reasonToStay)
    }
  }

  /** The verdict on sidecars, which follows from the checkpoints that are kept. */
  private final class Sidecars(input: CleanupInput, keptCheckpoints: Seq[LogFile]) {
    private val references: Seq[SidecarReferences] = keptCheckpoints.flatMap(input.referencesOf)

    private val named: Set[String] =
      references.collect { case SidecarReferences.Named(names) => names }.flatten.toSet

    private val someUnreadable: Boolean = references.exists(_.isInstanceOf[SidecarReferences.Unreadable])

    def reason(file: LogFile): Reason =
      if (named.contains(file.name)) Reason.ReferencedSidecar
      else if (someUnreadable) Reason.UnreadableCheckpoint
      else if (isYoung(file, input.now)) Reason.Young
      else Reason.UnreferencedSidecar
  }
}
