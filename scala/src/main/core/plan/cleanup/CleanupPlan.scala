package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.CountText
import io.deltaupkeep.log.{CheckpointSet, FoundCheckpoint, LogFile, LogFileKind, SidecarReferences}

sealed abstract class Verdict(val name: String) extends Serializable

object Verdict {
  case object Delete extends Verdict("delete")
  case object Keep extends Verdict("keep")
}

/** Why a file is deleted or kept. The set is closed, so that files can be counted by reason. */
sealed abstract class Reason(val verdict: Verdict, val text: String) extends Serializable

object Reason {
  import Verdict.{Delete, Keep}

  case object BeforeCutoff extends Reason(Delete, "before the cutoff checkpoint")
  case object CoveredByCutoff extends Reason(Delete, "covered by the cutoff checkpoint")
  case object UnreferencedSidecar extends Reason(Delete, "not named by any checkpoint")
  case object IncompleteCheckpoint extends Reason(Delete, "incomplete checkpoint")
  case object AbandonedTemporary extends Reason(Delete, "abandoned by its writer")
  case object ReadByVacuum extends Reason(Delete, "VACUUM has read it")

  case object InsideRetention extends Reason(Keep, "needed by a version inside retention")
  case object NoCommitExpired extends Reason(Keep, "no commit is older than the cutoff")
  case object NoCheckpoint extends Reason(Keep, "no checkpoint replaces it")
  case object ReferencedSidecar extends Reason(Keep, "named by a checkpoint that stays")
  case object UnreadableCheckpoint extends Reason(Keep, "a checkpoint that stays could not be read")
  case object Young extends Reason(Keep, "younger than a day")
  case object Protected extends Reason(Keep, "protected by checkpointProtection")
  case object ForVacuum extends Reason(Keep, "VACUUM has yet to read it")
  case object Pointer extends Reason(Keep, "pointer to the last checkpoint")
  case object Foreign extends Reason(Keep, "not a file of the protocol")

  private[deltaupkeep] val all: IndexedSeq[Reason] = IndexedSeq(
    BeforeCutoff,
    CoveredByCutoff,
    UnreferencedSidecar,
    IncompleteCheckpoint,
    AbandonedTemporary,
    ReadByVacuum,
    InsideRetention,
    NoCommitExpired,
    NoCheckpoint,
    ReferencedSidecar,
    UnreadableCheckpoint,
    Young,
    Protected,
    ForVacuum,
    Pointer,
    Foreign
  )
}

/** The reasons for many files, one byte each. */
private[deltaupkeep] final class Reasons(files: Int) {
  private val ordinals = new Array[Byte](files)

  def apply(i: Int): Reason = Reason.all(ordinals(i).toInt)

  def update(i: Int, reason: Reason): Unit = ordinals(i) = Reason.all.indexOf(reason).toByte
}

final case class FileVerdict(file: LogFile, reason: Reason) {
  def verdict: Verdict = reason.verdict
}

/** Files with one reason, and their size in bytes. */
final case class ReasonTotal(reason: Reason, files: Long, bytes: Long) {
  def verdict: Verdict = reason.verdict
}

/**
 * What VACUUM knows of the commits of a table.
 *
 * @param lastVersion up to which it has deleted what commits removed
 * @param isUsed      whether it is run at all
 */
final case class VacuumProgress(lastVersion: Option[Long], isUsed: Boolean)

/**
 * Versions whose commits a cleanup deletes before VACUUM has read what they removed.
 *
 * @param isKept whether that is written down first
 */
final case class UnseenByVacuum(first: Long, last: Long, isKept: Boolean) {
  private def versions = if (first == last) s"version $first" else s"versions $first to $last"

  private[cleanup] def message: String =
    if (isKept) s"What $versions removed is written down for VACUUM."
    else s"VACUUM has not read $versions, so the next one will list all directories."
}

/**
 * What is known about a log when its cleanup is planned. Times in milliseconds since the epoch.
 *
 * @param cutoff            older files may be deleted
 * @param cutoffCommit      the newest version not newer than the cutoff
 * @param sidecarReferences by name, of every checkpoint that may name sidecars, or that is known to be
 *                          damaged
 * @param checkpointProtectionVersion history before it may only be deleted all at once (feature
 *                                    checkpointProtection)
 * @param pointer           the version that `_last_checkpoint` names
 * @param lastCommitPastTravel the newest version that is older than `delta.deletedFileRetentionDuration`
 * @param vacuum                what VACUUM has seen
 */
final case class CleanupInput(
    files: IndexedSeq[LogFile],
    now: Long,
    cutoff: Long,
    cutoffCommit: Option[Long],
    sidecarReferences: Map[String, SidecarReferences],
    checkpointProtectionVersion: Option[Long],
    pointer: Option[Long] = None,
    lastCommitPastTravel: Option[Long] = None,
    vacuum: VacuumProgress = VacuumProgress(None, isUsed = false)
) {

  /** The newest version that may be the cutoff: readers that follow `_last_checkpoint` do not look for another. */
  private[deltaupkeep] lazy val pointed: Option[Long] =
    pointer.filter(version => files.exists(_.isCheckpointOf(version)))

  /** An empty file names no sidecars, whatever the attempt to read it returned. */
  private[deltaupkeep] def referencesOf(file: LogFile): Option[SidecarReferences] =
    sidecarReferences.get(file.name).filter(_ => file.sizeInBytes > 0)

  private[deltaupkeep] def isUnreadable(file: LogFile): Boolean =
    referencesOf(file).exists(_.isInstanceOf[SidecarReferences.Unreadable])

  /** The checkpoints of a version that may be readable. */
  def readableCheckpoints(version: Long): Seq[FoundCheckpoint] = {
    val sidecars = files.filter(_.kind == LogFileKind.Sidecar)
    val ofVersion = files.filter(_.isCheckpointOf(version))
    CheckpointSet.allOf(ofVersion ++ sidecars, sidecarReferences).filter(_.isComplete).map { set =>
      val named = set.files.flatMap(referencesOf).collect { case SidecarReferences.Named(names) => names }
      val names = named.flatten.toSet
      FoundCheckpoint(version, set.files, sidecars.filter(sidecar => names(sidecar.name)))
    }
  }

  /** Files of checkpoints up to a version, without sidecars. */
  def checkpointFiles(upTo: Long): Seq[LogFile] =
    files.filter(file => file.kind.version.exists(version => version <= upTo && file.isCheckpointOf(version)))

  /** The newest checkpoint up to a version that cannot be relied on, and why. */
  private[deltaupkeep] def passedOver(from: Long, to: Long): Option[PassedOver] = {
    val unreadable = for {
      file <- files.iterator
      version <- file.kind.version.iterator if version > from && version <= to && file.isCheckpointOf(version)
      why <- referencesOf(file).collect { case SidecarReferences.Unreadable(why) => why }.iterator
    } yield PassedOver(version, why)
    unreadable.maxByOption(_.version)
  }
}

/** A checkpoint that could have been the cutoff, and why it is not. */
private[deltaupkeep] final case class PassedOver(version: Long, why: String)

/**
 * A verdict and a reason for every file of a log.
 *
 * @param cutoffCheckpoint the newest complete checkpoint at or before `cutoffCommit`; everything before it is
 *                         deleted
 * @param oldestReadableVersion oldest version that the log can read once the plan is carried out
 * @param oldestTimeTravelVersion oldest version whose data files VACUUM keeps too
 * @param unseenByVacuum versions that VACUUM can no longer find in the log, once their commits are deleted
 * @param passedOver the newest checkpoint after the cutoff checkpoint that expired versions would allow
 */
final class CleanupPlan private[deltaupkeep] (
    val cutoff: Long,
    val cutoffCommit: Option[Long],
    val cutoffCheckpoint: Option[Long],
    val files: IndexedSeq[LogFile],
    reasons: Reasons,
    val oldestReadableVersion: Option[Long],
    val oldestTimeTravelVersion: Option[Long],
    val unseenByVacuum: Option[UnseenByVacuum],
    passedOver: Option[PassedOver]
) {

  val totals: Seq[ReasonTotal] = {
    val counted = Array.fill(Reason.all.size)(0L)
    val bytes = Array.fill(Reason.all.size)(0L)
    files.iterator.zipWithIndex.foreach { case (file, i) =>
      val reason = Reason.all.indexOf(reasons(i))
      counted(reason) += 1
      bytes(reason) += file.sizeInBytes
    }
    Reason.all.indices
      .filter(counted(_) > 0)
      .map(i => ReasonTotal(Reason.all(i), counted(i), bytes(i)))
      .sortBy(total => (total.verdict.name, total.reason.text))
  }

  /** All files by path: a few hundred bytes each. */
  def verdicts: Seq[FileVerdict] =
    files.indices.map(i => FileVerdict(files(i), reasons(i))).sortBy(_.file.path)

  /**
   * The files to delete, in phases. A phase begins when the one before it is complete, so every version from
   * the cutoff checkpoint on stays readable wherever the deletion stops. Within a phase the oldest files come
   * first, only so that the rest of the expired history has no large gaps.
   */
  lazy val phases: Seq[IndexedSeq[LogFile]] = DeletionOrder.phases(files, reasons)

  /** The files to delete, in order. */
  def deletions: Seq[LogFile] = phases.flatten

  def isEmpty: Boolean = count(Verdict.Delete) == 0

  /** Whether expired commits are kept only because no checkpoint replaces them. */
  def needsCheckpoint: Boolean = cutoffCommit.exists(_ > 0) && cutoffCheckpoint.isEmpty

  private def count(verdict: Verdict): Long = totals.filter(_.verdict == verdict).map(_.files).sum

  /** What is deleted and why, or why nothing is deleted. */
  def message: String = {
    val expired = totals
      .filter(total => total.reason == Reason.BeforeCutoff || total.reason == Reason.CoveredByCutoff)
      .map(_.files)
      .sum
    val why = (cutoffCommit, cutoffCheckpoint) match {
      case (None, _) => "no commit is older than the cutoff"
      case (Some(commit), None) => s"there is no complete checkpoint at or before version $commit"
      case (_, Some(checkpoint)) => s"the checkpoint of version $checkpoint replaces everything before it"
    }
    s"${CountText.of(expired, "expired file")} and ${CountText.of(count(Verdict.Delete) - expired, "leftover")} " +
      s"to delete: $why." +
      unseenByVacuum.fold("")(unseen => s" ${unseen.message}") +
      passedOver.fold("")(over => s" The checkpoint of version ${over.version} is passed over: ${over.why}.")
  }
}
