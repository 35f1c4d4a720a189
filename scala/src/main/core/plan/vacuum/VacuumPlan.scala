package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.{ByteText, CountText}
import io.deltaupkeep.plan.cleanup.Verdict

/** Why a file or a directory of a table is deleted or kept. */
sealed abstract class VacuumReason(val verdict: Verdict, val text: String) extends Serializable

object VacuumReason {
  import Verdict.{Delete, Keep}

  case object Expired extends VacuumReason(Delete, "removed before the retention")
  case object Orphan extends VacuumReason(Delete, "named by no version inside retention")
  case object EmptyDirectory extends VacuumReason(Delete, "an empty directory")

  case object Named extends VacuumReason(Keep, "needed by a version inside retention")
  case object Young
      extends VacuumReason(Keep, "younger than the retention, and may be part of a commit to come")
  case object NamedMeanwhile extends VacuumReason(Keep, "named by a commit that came meanwhile")
  case object Limit extends VacuumReason(Keep, "left to a later run by maxFiles or maxBytes")
}

/**
 * A file or a directory of a table.
 *
 * @param path below the table's root
 * @param removedBy        version whose commit removed it, if it was found in the log
 * @param modificationTime milliseconds since the epoch; of a file that was found in the log, when it was removed
 */
final case class FoundFile(
    path: String,
    sizeInBytes: Long,
    modificationTime: Long,
    isDirectory: Boolean = false,
    removedBy: Option[Long] = None
)

final case class VacuumVerdict(file: FoundFile, reason: VacuumReason)

/** Names, below the table's root, of the files that actions of the table's newest version name. */
final case class TableNames(kept: NameSet, expired: NameSet)

/**
 * What a VACUUM deletes, and what it keeps although no version inside retention names it.
 *
 * @param cutoff   milliseconds since the epoch: older files may be deleted
 * @param verdicts on all files that no version inside retention names
 * @param named    how many files such a version names
 * @param directories how many were listed
 * @param until    version up to which all that commits removed has been found
 */
final case class VacuumPlan(
    cutoff: Long,
    source: VacuumSource,
    verdicts: IndexedSeq[VacuumVerdict],
    named: Long,
    directories: Long,
    until: Option[Long]
) {

  /** What is to be deleted. Directories come last. */
  lazy val deletions: IndexedSeq[FoundFile] =
    verdicts.filter(_.reason.verdict == Verdict.Delete).map(_.file).sortBy(_.isDirectory)

  /** Their bytes. */
  def deletedBytes: Long = deletions.map(_.sizeInBytes).sum

  /**
   * The version up to which nothing is left that commits removed, once the plan is carried out; None if that is not
   * known. Listed files do not say who removed them, and a young one may be the copy of an old one.
   */
  def seenUntil: Option[Long] = {
    val left = verdicts.filter(_.reason == VacuumReason.Limit)
    val isListed = source.mode == VacuumMode.Full
    if (isListed && (left.nonEmpty || verdicts.exists(_.reason == VacuumReason.Young))) None
    else until.map(last => left.flatMap(_.file.removedBy).map(_ - 1).foldLeft(last)(math.min(_, _))).filter(
      _ >= 0
    )
  }

  /** Keeps what is named by commits that came after the plan. */
  def without(isNamed: String => Boolean): VacuumPlan = copy(verdicts = verdicts.map {
    case VacuumVerdict(file, reason) if reason.verdict == Verdict.Delete && isNamed(file.path) =>
      VacuumVerdict(file, VacuumReason.NamedMeanwhile)
    case other => other
  })

  /** Files, and their bytes, by reason. Bytes of files that are needed are not known. */
  def totals: Seq[(VacuumReason, Long, Long)] = {
    val found = verdicts.groupBy(_.reason).map { case (reason, some) =>
      (reason, some.size.toLong, some.map(_.file.sizeInBytes).sum)
    }
    (found.toSeq :+ ((VacuumReason.Named, named, 0L)))
      .filter { case (_, files, _) => files > 0 }
      .sortBy { case (reason, _, _) => (reason.verdict.name, reason.text) }
  }

  def message: String =
    s"${source.reason}; to delete: ${CountText.of(deletions.size.toLong, "file")}, ${ByteText.of(deletedBytes)}"
}

object VacuumPlan {

  /** The verdict on a file that was found; None if a version inside retention needs it. */
  def reason(file: FoundFile, names: TableNames, cutoff: Long): Option[VacuumReason] =
    if (names.kept.contains(file.path)) None
    else if (file.modificationTime >= cutoff) Some(VacuumReason.Young)
    else if (file.isDirectory) Some(VacuumReason.EmptyDirectory)
    else if (names.expired.contains(file.path)) Some(VacuumReason.Expired)
    else Some(VacuumReason.Orphan)

  /** Leaves what exceeds the limits to a later run: the newest files. The oldest one always goes. */
  def limited(verdicts: IndexedSeq[VacuumVerdict], settings: VacuumSettings): IndexedSeq[VacuumVerdict] = {
    val isUnlimited = settings.maxFiles == Long.MaxValue && settings.maxBytes == Long.MaxValue
    val (gone, kept) = verdicts.partition(verdict => verdict.reason.verdict == Verdict.Delete)
    if (isUnlimited) verdicts
    else {
      val oldestFirst = gone.sortBy { case VacuumVerdict(file, _) =>
        (file.removedBy, file.modificationTime, file.path)
      }
      val bytes = oldestFirst.scanLeft(0L)((sum, verdict) => sum + verdict.file.sizeInBytes).tail
      val fitting = bytes.zipWithIndex.count { case (sum, i) =>
        i == 0 || sum <= settings.maxBytes && i < settings.maxFiles
      }
      val (now, later) = oldestFirst.splitAt(fitting)
      kept ++ now ++ later.map(_.copy(reason = VacuumReason.Limit))
    }
  }
}
