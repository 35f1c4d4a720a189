package io.deltaupkeep.plan.repair

import io.deltaupkeep.{ByteText, CountText}

/** What is done about a problem. */
sealed abstract class FsckAction(val name: String) extends Serializable

object FsckAction {
  case object Remove extends FsckAction("remove")
  case object Restore extends FsckAction("restore")

  /** Write a file of the log anew. */
  case object Rewrite extends FsckAction("rewrite")
  case object Nothing extends FsckAction("none")
}

/**
 * A file with a problem.
 *
 * @param vectorGone whether the file of its deletion vector is known to be gone
 * @param advice     why the action, and what to do next
 */
final case class Finding(
    file: NamedFile,
    problem: Problem,
    vectorGone: Boolean,
    action: FsckAction,
    advice: String
) {
  def reason: String = s"${problem.text}; $advice"

  def without(advice: String): Finding = copy(action = FsckAction.Nothing, advice = advice)
}

/**
 * What an FSCK found, and what it does.
 *
 * @param files    that were checked
 * @param bytes    their size in the log
 * @param findings in the order of their paths
 * @param restorations to carry out
 * @param log      problems of files of the log
 */
final case class FsckPlan(
    files: Long,
    bytes: Long,
    findings: IndexedSeq[Finding],
    restorations: Seq[Restoration],
    log: Seq[LogFinding] = Nil
) {

  def removals: IndexedSeq[Finding] = findings.filter(_.action == FsckAction.Remove)

  /** Brings nothing back. */
  def withoutRestorations(advice: String): FsckPlan = copy(
    findings =
      findings.map(finding => if (finding.action == FsckAction.Restore) finding.without(advice) else finding),
    restorations = Nil
  )

  /** Whether nothing would be left. Then the directory was more likely moved, or is not mounted. */
  def removesAll: Boolean = files > 0 && removals.size == files

  /** Rows of lost files that are not brought back; None if the log does not say how many. */
  def rowsGone: Option[Long] = {
    val lost = findings.filter(finding => finding.problem.isLoss && finding.action != FsckAction.Restore)
    lost.foldLeft(Option(0L))((sum, finding) => sum.flatMap(rows => finding.file.rows.map(rows + _)))
  }

  def message: String = {
    val checked = s"${CountText.of(files, "file")}, ${ByteText.of(bytes)}"
    val actions = findings.map(_.action) ++ log.map(_.action)
    val done = Seq[(FsckAction, String)](
      FsckAction.Remove -> "to remove",
      FsckAction.Restore -> "to restore",
      FsckAction.Rewrite -> "to write anew"
    ).map { case (action, what) => actions.count(_ == action) -> what }
      .collect { case (count, what) if count > 0 => s", $count $what" }
    if (actions.isEmpty) s"$checked: all are as the log says"
    else s"$checked: ${CountText.of(actions.size, "problem")}${done.mkString}"
  }
}

object FsckPlan {

  /**
   * @param presence of each file that was named, by its path
   * @param problems of files, with those that only a deep check finds
   * @param restore  what can be brought back
   * @param restoreTo the newest version whose files exist, if it is known
   */
  def of(
      mode: FsckMode,
      files: Seq[NamedFile],
      presence: String => Presence,
      problems: NamedFile => Option[Problem],
      restore: RestorePlan,
      restoreTo: Option[Long] = None
  ): FsckPlan = {
    val restorable = restore.restorations.flatMap(r => r.removed.map(_ -> r)).toMap
    val found = for (file <- files.toVector.sortBy(_.path); problem <- problems(file)) yield {
      val (action, advice) = restorable.get(file.id) match {
        case Some(restoration) => restorableAdvice(mode, restoration)
        case None if problem.isLoss && restore.isUncertain => (FsckAction.Nothing, AskAgain)
        case None => lostAdvice(mode, problem, restore.refusals.get(file.id), restoreTo)
      }
      Finding(
        file,
        problem,
        file.vector.exists(vector => presence(vector.path) == Presence.Gone),
        action,
        advice
      )
    }
    FsckPlan(
      files.size.toLong,
      files.map(_.sizeInBytes).sum,
      found,
      if (mode == FsckMode.Restore) restore.restorations else Nil
    )
  }

  private def restorableAdvice(mode: FsckMode, restoration: Restoration): (FsckAction, String) = {
    val what = s"${CountText.of(restoration.added.size, "file")} that version ${restoration.version} replaced"
    mode match {
      case FsckMode.Restore => (FsckAction.Restore, s"the $what ${verb(restoration.added.size)} its rows")
      case _ => (FsckAction.Nothing, s"OPTIONS (mode = 'restore') brings its rows back from the $what")
    }
  }

  private val AskAgain = "run the statement again once the store answers"

  private def verb(files: Int): String = if (files == 1) "has" else "have"

  private def lostAdvice(
      mode: FsckMode,
      problem: Problem,
      refusal: Option[String],
      restoreTo: Option[Long]
  ): (FsckAction, String) = {
    val next = restoreTo.fold("") { version =>
      s"RESTORE TABLE ... TO VERSION AS OF $version returns to the last version whose files exist, and undoes all " +
        "later changes; "
    }
    val why = refusal.fold("")(why => s"it cannot be restored: $why; ")
    if (!problem.isCertain) (FsckAction.Nothing, AskAgain)
    else if (!problem.isLoss)
      (FsckAction.Nothing, s"${why}restore the file from a copy, or the table with RESTORE")
    else if (mode == FsckMode.Missing) (FsckAction.Remove, s"$why${next}its entry is removed from the log")
    else (FsckAction.Nothing, s"$why${next}OPTIONS (mode = 'missing') removes its entry from the log")
  }
}
