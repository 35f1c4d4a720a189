package io.deltaupkeep.cleanup

sealed abstract class Verdict(val name: String)

object Verdict {
  case object Delete extends Verdict("delete")
  case object Keep extends Verdict("keep")
}

/** Why a file goes or stays: a closed set, so that files can be counted by it. */
sealed abstract class Reason(val verdict: Verdict, val text: String)

object Reason {
  import Verdict.{Delete, Keep}

  case object BeforeCutoff extends Reason(Delete, "before the cutoff checkpoint")
  case object CoveredByCutoff extends Reason(Delete, "covered by the cutoff checkpoint")
  case object UnreferencedSidecar extends Reason(Delete, "named by no checkpoint")
  case object IncompleteCheckpoint extends Reason(Delete, "incomplete checkpoint")
  case object AbandonedTemporary extends Reason(Delete, "abandoned by its writer")

  case object InsideRetention extends Reason(Keep, "needed by a version inside retention")
  case object NoCommitExpired extends Reason(Keep, "no commit is older than the cutoff")
  case object NoCheckpoint extends Reason(Keep, "no checkpoint to stand on")
  case object ReferencedSidecar extends Reason(Keep, "named by a checkpoint that stays")
  case object UnreadableCheckpoint extends Reason(Keep, "a checkpoint that stays could not be read")
  case object Young extends Reason(Keep, "younger than a day")
  case object Protected extends Reason(Keep, "protected by checkpointProtection")
  case object Pointer extends Reason(Keep, "pointer to the last checkpoint")
  case object Foreign extends Reason(Keep, "not a file of the protocol")
}

final case class FileVerdict(file: LogFile, reason: Reason) {
  def verdict: Verdict = reason.verdict
}

/** Files with one reason, and their size in bytes. */
final case class ReasonTotal(reason: Reason, files: Long, bytes: Long) {
  def verdict: Verdict = reason.verdict
}

/**
 * What is known of a log when its cleanup is planned. Times in milliseconds since the epoch.
 *
 * @param cutoff            what is older may go
 * @param cutoffCommit      the newest version not newer than the cutoff
 * @param sidecarReferences by name, of every checkpoint that may name sidecars
 * @param checkpointProtectionVersion history before it may go only at once (feature checkpointProtection)
 */
final case class CleanupInput(
    files: Seq[LogFile],
    now: Long,
    cutoff: Long,
    cutoffCommit: Option[Long],
    sidecarReferences: Map[String, SidecarReferences],
    checkpointProtectionVersion: Option[Long]
) {

  /** An empty file names nothing, however reading it went. */
  private[cleanup] def referencesOf(file: LogFile): Option[SidecarReferences] =
    sidecarReferences.get(file.name).filter(_ => file.sizeInBytes > 0)
}

/**
 * A verdict and a reason for every file of a log.
 *
 * @param cutoffCheckpoint the newest complete checkpoint at or before `cutoffCommit`: all before it goes
 * @param deletions        in an order in which stopping anywhere leaves every version from the cutoff
 *                         checkpoint on readable
 * @param oldestReadableVersion once the plan was carried out
 */
final case class CleanupPlan(
    cutoff: Long,
    cutoffCommit: Option[Long],
    cutoffCheckpoint: Option[Long],
    verdicts: Seq[FileVerdict],
    deletions: Seq[LogFile],
    oldestReadableVersion: Option[Long]
) {

  def isEmpty: Boolean = deletions.isEmpty

  /** Expired commits stay only because no checkpoint stands in for them. */
  def needsCheckpoint: Boolean = cutoffCommit.exists(_ > 0) && cutoffCheckpoint.isEmpty

  lazy val totals: Seq[ReasonTotal] =
    verdicts
      .groupBy(_.reason)
      .map { case (reason, files) => ReasonTotal(reason, files.size, files.map(_.file.sizeInBytes).sum) }
      .toSeq
      .sortBy(total => (total.verdict.name, total.reason.text))

  /** What goes and why, or why nothing does. */
  def message: String = {
    val expired = verdicts.count(v => v.reason == Reason.BeforeCutoff || v.reason == Reason.CoveredByCutoff)
    val why = (cutoffCommit, cutoffCheckpoint) match {
      case (None, _) => "no commit is older than the cutoff"
      case (Some(commit), None) => s"no complete checkpoint at or before version $commit to stand on"
      case (_, Some(checkpoint)) => s"the checkpoint of version $checkpoint stands in for all before it"
    }
    s"$expired expired files and ${deletions.size - expired} leftovers to delete: $why."
  }
}
