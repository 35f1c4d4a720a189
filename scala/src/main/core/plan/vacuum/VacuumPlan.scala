package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.{ByteText, CountText}
import io.deltaupkeep.plan.cleanup.Verdict

/** Why a file or a directory of a table is deleted or kept. */
sealed abstract class VacuumReason(val verdict: Verdict, val text: String) extends Serializable {

  /** Whether a later run may delete the file, although its commit is not looked at again. */
  def isLeft: Boolean = this == VacuumReason.Limit || this == VacuumReason.OfClone
}

object VacuumReason {
  import Verdict.{Delete, Keep}

  case object Expired extends VacuumReason(Delete, "removed before the retention")
  case object Orphan extends VacuumReason(Delete, "named by no version inside retention")
  case object EmptyDirectory extends VacuumReason(Delete, "an empty directory")

  case object Named extends VacuumReason(Keep, "needed by a version inside retention")
  case object Young
      extends VacuumReason(Keep, "younger than the retention, and may be part of a commit to come")
  case object YoungRemoved extends VacuumReason(Keep, "removed before the retention, but written since")
  case object OtherTable extends VacuumReason(Keep, "in the directory of another Delta table")
  case object OfClone extends VacuumReason(Keep, "needed by a table that keepFor names")
  case object NamedMeanwhile extends VacuumReason(Keep, "named by a commit that came meanwhile")
  case object BadName extends VacuumReason(Keep, "the file system cannot delete a file of such a name")
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

/**
 * Names, below the table's root, of the files that actions of the table's newest version name.
 *
 * @param ofClones those that other tables name
 * @param hasLateRemovals whether some of those kept were removed since the cutoff, as their removals say, by commits
 *                        that are older
 */
final case class TableNames(
    kept: NameSet,
    expired: NameSet,
    ofClones: NameSet = NameSet.Empty,
    hasLateRemovals: Boolean = false
) {

  /** About how many names there are. */
  def size: Long = kept.size + expired.size
}

object TableNames {
  val None: TableNames = TableNames(NameSet.Empty, NameSet.Empty)
}

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
   * known. Listed files do not say who removed them.
   */
  def seenUntil: Option[Long] = {
    val left = verdicts.filter(_.reason.isLeft)
    val isListed = source.mode == VacuumMode.Full
    if (isListed && (left.nonEmpty || verdicts.exists(_.reason == VacuumReason.YoungRemoved))) None
    else until.map(last => left.flatMap(_.file.removedBy).map(_ - 1).foldLeft(last)(math.min(_, _))).filter(
      _ >= 0
    )
  }

  /** Whether all directories were listed, and nothing is left to a later run. */
  def hasListedAll: Boolean =
    source.mode == VacuumMode.Full && !verdicts.exists(_.reason == VacuumReason.Limit)

  /** Keeps what turned out, after the plan was made, to be needed or not to go. */
  def without(reasons: String => Option[VacuumReason]): VacuumPlan = copy(verdicts = verdicts.map { planned =>
    if (planned.reason.verdict == Verdict.Keep) planned
    else reasons(planned.file.path).fold(planned)(reason => planned.copy(reason = reason))
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
    else {
      val isYoung = file.modificationTime >= cutoff
      val isExpired = names.expired.contains(file.path)
      Some(
        if (names.ofClones.contains(file.path)) VacuumReason.OfClone
        else if (isYoung && isExpired) VacuumReason.YoungRemoved
        else if (isYoung) VacuumReason.Young
        else if (file.isDirectory) VacuumReason.EmptyDirectory
        else if (isExpired) VacuumReason.Expired
        else VacuumReason.Orphan
      )
    }

  /**
   * Leaves what exceeds the limits to a later run: the newest files. The oldest one always goes.
   *
   * @param present those of some files that are there; the others count for nothing
   */
  def limited(verdicts: IndexedSeq[VacuumVerdict], settings: VacuumSettings)(
      present: Seq[VacuumVerdict] => Seq[VacuumVerdict]
  ): IndexedSeq[VacuumVerdict] = {
    val isUnlimited = settings.maxFiles == Long.MaxValue && settings.maxBytes == Long.MaxValue
    if (isUnlimited) verdicts
    else {
      val (gone, kept) = verdicts.partition(_.reason.verdict == Verdict.Delete)
      val oldestFirst = gone.sortBy { case VacuumVerdict(file, _) =>
        (file.removedBy, file.modificationTime, file.path)
      }
      val (now, later) = fitting(oldestFirst, settings, present)
      kept ++ now ++ later.map(_.copy(reason = VacuumReason.Limit))
    }
  }

  /** Those that one run deletes, and the others. */
  private def fitting(
      oldestFirst: IndexedSeq[VacuumVerdict],
      settings: VacuumSettings,
      present: Seq[VacuumVerdict] => Seq[VacuumVerdict]
  ): (Seq[VacuumVerdict], Seq[VacuumVerdict]) = {
    var (files, bytes, isFull) = (0L, 0L, false)
    def fits(verdict: VacuumVerdict): Boolean = {
      files += 1
      bytes += verdict.file.sizeInBytes
      isFull = files > 1 && (files > settings.maxFiles || bytes > settings.maxBytes)
      !isFull
    }
    val some = oldestFirst.grouped(FilesOfLook).flatMap(group => if (isFull) group else present(group))
    val (now, later) = some.span(fits)
    (now.toVector, later.toVector)
  }

  private val FilesOfLook = 1000
}
