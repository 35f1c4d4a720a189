package io.deltaupkeep.cleanup

import java.time.Instant
import java.time.temporal.ChronoUnit

/**
 * Decides what may go from a log (protocol, 'Metadata Cleanup', steps 2 to 5). Pure.
 *
 * The cutoff checkpoint is the newest complete checkpoint at or before the cutoff commit. It and everything
 * from its version on stays, so every version inside retention stays readable. Time and memory grow with the
 * number of files: a million need a few seconds and about 500 MB.
 */
object CleanupPlanner {

  def plan(input: CleanupInput): CleanupPlan = {
    val checkpoints = CheckpointSet.allOf(input.files, input.sidecarReferences)
    val cutoffCheckpoint = newestToStandOn(input, checkpoints)
    val others = new OtherFiles(input, checkpoints, cutoffCheckpoint)
    val withoutSidecars = input.files.filterNot(_.kind == LogFileKind.Sidecar).map { file =>
      FileVerdict(file, others.reason(file))
    }
    val sidecars = new Sidecars(input, withoutSidecars)
    val verdicts = input.files
      .filter(_.kind == LogFileKind.Sidecar)
      .map(file => FileVerdict(file, sidecars.reason(file)))
      .concat(withoutSidecars)
      .sortBy(_.file.path)
    CleanupPlan(
      input.cutoff,
      input.cutoffCommit,
      cutoffCheckpoint,
      verdicts,
      verdicts.filter(_.verdict == Verdict.Delete).map(_.file).sortBy(deletionOrder),
      oldestReadable(verdicts.filter(_.verdict == Verdict.Keep).map(_.file), input.sidecarReferences)
    )
  }

  /** Its commit has to be there too: the protocol keeps it, as a checkpoint does not hold its provenance. */
  private def newestToStandOn(input: CleanupInput, checkpoints: Seq[CheckpointSet]): Option[Long] =
    input.cutoffCommit.flatMap { cutoffCommit =>
      val commits = commitsOf(input.files).toSet
      checkpoints
        .filter(set => set.isComplete && set.version <= cutoffCommit && commits.contains(set.version))
        .map(_.version)
        .maxOption
    }

  private def commitsOf(files: Seq[LogFile]): Seq[Long] =
    files.map(_.kind).collect { case LogFileKind.Commit(version) => version }

  private def oldestReadable(
      files: Seq[LogFile],
      references: Map[String, SidecarReferences]
  ): Option[Long] = {
    val complete = CheckpointSet.allOf(files, references).filter(_.isComplete).map(_.version)
    Readability.oldest(commitsOf(files), complete)
  }

  /**
   * Log compactions first, as readers prefer them to the commits that they cover; then from the oldest version
   * on; then what no reader uses; sidecars last, after every checkpoint that named them.
   */
  private def deletionOrder(file: LogFile): (Int, Long, Int, String) = file.kind match {
    case LogFileKind.LogCompaction(_, end) => (0, end, 0, file.name)
    case LogFileKind.Checksum(version) => (1, version, 0, file.name)
    case LogFileKind.StagedCommit(version, _) => (1, version, 1, file.name)
    case LogFileKind.Commit(version) => (1, version, 3, file.name)
    case LogFileKind.Sidecar => (3, 0, 0, file.name)
    case other => other.version.fold((2, 0L, 0, file.name))(version => (1, version, 2, file.name))
  }

  /** Midnight UTC of yesterday: a file that is not older may belong to a write in progress. */
  private def isYoung(file: LogFile, now: Long): Boolean = {
    val midnight = Instant.ofEpochMilli(now).truncatedTo(ChronoUnit.DAYS)
    file.modificationTime >= midnight.minus(1, ChronoUnit.DAYS).toEpochMilli
  }

  /** The verdict on all files but sidecars, which follow from their own name and the cutoff checkpoint. */
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
     * checkpointProtection allows a cleanup that takes all history before a version P at once, or one that
     * makes no checkpoint and erases none from the version on that it cleans up to. Ours ends at a checkpoint
     * that is there: where that is before P, no checkpoint after it may go, not even what is left of one.
     */
    private val isProtected: Boolean =
      input.checkpointProtectionVersion.exists(_ > cutoffCheckpoint.getOrElse(0L))

    /** Files of checkpoints that no reader can use, with the verdict on their whole set. */
    private val incomplete: Map[LogFile, Reason] = checkpoints
      .filterNot(set => set.isComplete || set.files.exists(isUnreadable))
      .flatMap { set =>
        val reason =
          if (isProtected) Reason.Protected
          else if (set.files.exists(isYoung(_, input.now))) Reason.Young
          else Reason.IncompleteCheckpoint
        set.files.map(_ -> reason)
      }
      .toMap

    private def isUnreadable(file: LogFile): Boolean =
      input.referencesOf(file).exists(_.isInstanceOf[SidecarReferences.Unreadable])

    def reason(file: LogFile): Reason = file.kind match {
      case LogFileKind.Temporary => if (isYoung(file, input.now)) Reason.Young else Reason.AbandonedTemporary
      case LogFileKind.LastCheckpoint => Reason.Pointer
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

  /** The verdict on sidecars, which follows from the checkpoints that stay. */
  private final class Sidecars(input: CleanupInput, others: Seq[FileVerdict]) {
    private val references: Seq[SidecarReferences] = others
      .filter(_.verdict == Verdict.Keep)
      .flatMap(verdict => input.referencesOf(verdict.file))

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
