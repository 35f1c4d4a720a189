package org.apache.spark.sql.delta.upkeep.repair

import scala.util.control.NonFatal

import io.deltaupkeep.{UpkeepErrors, UpkeepException}
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair._

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.logcheck.{LogCheck, LogProblem}
import org.apache.spark.sql.delta.upkeep.files.{FilePredicate, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures, Intent}

/** One FSCK: its plan, and its execution. The driver holds an action for each file of the table. */
final case class TableFsck(opened: DeltaHandle, settings: FsckSettings) {
  import TableFsck._

  private lazy val (log, selected) =
    try read(pages = settings.deep)
    catch {
      case NonFatal(e) if !settings.deep && InputFailures.damageOfLog(e).isDefined => read(pages = true)
    }
  private lazy val table = log.readable
  private lazy val logged = new LoggedFiles(table)
  private lazy val presence = new FilePresence(table)
  private lazy val adds: Map[DataFile.Id, AddFile] =
    selected.adds.iterator.map(add => logged.idOf(add) -> add).toMap

  private lazy val checked = new Checked(adds.values.toSeq, settings.deep)

  private lazy val commits = new LogCommits(table)
  private lazy val openVacuum = new OpenVacuum(table, commits.oldest)
  private lazy val brokenFiles = new BrokenFiles(table, logged, commits, new Checked(_, deep = true).problems)

  /** A damaged page of a checkpoint shows when it is read. */
  private def read(pages: Boolean): (LogCheck, SelectedFiles) = {
    val log = new LogCheck(opened, settings, pages)
    val selected = new SelectedFiles(log.readable, FilePredicate.none, whole = true)
    selected.adds
    (log, selected)
  }

  private lazy val ofLog: Seq[LogProblem] =
    log.problems((selected.adds.size.toLong, selected.adds.iterator.map(_.size).sum))

  /**
   * @throws io.deltaupkeep.UpkeepException `CHECKPOINT_DAMAGED`, `FSCK_STORE_UNREACHABLE`, `FSCK_ALL_FILES_GONE`,
   *                                        `FSCK_APPEND_ONLY`
   */
  lazy val plan: FsckPlan = {
    val broken = checked.problems.collect { case (id, problem) if problem.isCertain => id }.toSet
    val restore = if (broken.isEmpty) RestorePlan.Nothing else brokenFiles.plan(adds.keySet, broken)
    val plan = FsckPlan.of(
      settings.mode,
      checked.files,
      checked.presences,
      file => checked.problems.get(file.id),
      restore,
      restoreTo(restore)
    ).copy(log = ofLog.map(_.finding))
    if (plan.removesAll) throw UpkeepErrors.fsckAllGone(table.name, plan.files, table.path)
    if (plan.removals.nonEmpty) RepairCommit.requireRemovable(table, settings.mode)
    val vacuum = if (plan.restorations.isEmpty) None else openVacuum.version
    vacuum.fold(plan)(version => plan.withoutRestorations(OpenVacuum.advice(version)))
  }

  def planned(): Seq[FsckResult] = FsckResult.of(table.path, plan, dryRun = true, version = None)

  /** @throws io.deltaupkeep.UpkeepException `FSCK_CONFLICT` if every attempt of a commit met a conflict */
  def execute(): Seq[FsckResult] = {
    // What a plan refuses repairs nothing.
    plan
    val ofLog = repairedLog()
    val removals = plan.removals.map(finding => Change(Set(finding.file.id), Nil) -> finding).toMap
    val restorations = plan.restorations.map { restoration =>
      Change(restoration.removed, restoration.added.toSeq.map(brokenFiles.input)) -> restoration
    }.toMap
    val commit = new RepairCommit(
      table,
      selected,
      settings.mode,
      changes => if (settings.mode == FsckMode.Restore) stillThere(changes) else stillGone(changes, removals)
    )
    val done = commit(removals.keys.toSeq ++ restorations.keys)
    val vacuumed = takenBack(done.done.filter(_.added.nonEmpty))
    val changed = done.done.flatMap(_.removed)
    val outcome = plan.copy(findings = plan.findings.map { finding =>
      val id = finding.file.id
      if (finding.action == FsckAction.Nothing) finding
      else vacuumed.get(id).orElse(Option.unless(changed(id))(Overtaken)).fold(finding)(finding.without)
    })
    FsckResult.of(table.path, outcome.copy(log = ofLog), dryRun = false, done.version)
  }

  /** Before the commit, which Delta makes on top of the log. */
  private def repairedLog(): Seq[LogFinding] =
    if (ofLog.forall(_.finding.action == FsckAction.Nothing)) ofLog.map(_.finding)
    else {
      table.requireWritableLog(RepairCommit.Statement)
      try ofLog.map(_.repaired())
      // Delta holds the sizes of files that have been replaced.
      finally DeltaLog.invalidateCache(table.session, table.snapshot.deltaLog.dataPath)
    }

  private def stillGone(changes: Seq[Change], removals: Map[Change, Finding]): Set[Change] = {
    def lost(change: Change) = {
      val finding = removals(change)
      if (finding.problem == Problem.DataGone) finding.file.path else finding.file.vector.get.path
    }
    val now = presence.looked(changes.map(lost))
    changes.filter(change => now(lost(change)) == Presence.Gone).toSet
  }

  private def stillThere(changes: Seq[Change]): Set[Change] = {
    val there = problemsOf(changes).collect { case (change, Seq()) => change }.toSet
    if (openVacuum.version.isEmpty) there else Set.empty
  }

  /**
   * Takes back what a VACUUM undoes: what was replaced may be whole in part.
   *
   * @return what became of files that are not restored after all
   */
  private def takenBack(restored: Set[Change]): Map[DataFile.Id, String] = {
    val isOpen = openVacuum.version.nonEmpty
    val lost = problemsOf(restored.toSeq).collect {
      case (change, problems) if isOpen || problems.exists(_.isCertain) => change
    }.toSet
    if (lost.isEmpty) Map.empty
    else {
      val newest = table.updated(RepairCommit.Statement, Intent.Reorganize)
      val back = lost.map { change =>
        Change(change.added.map(logged.idOf).toSet, change.removed.toSeq.map(adds)) -> change
      }.toMap
      val commit =
        new RepairCommit(
          newest,
          new SelectedFiles(newest, FilePredicate.none, whole = true),
          settings.mode,
          _.toSet
        )
      val done =
        try commit(back.keys.toSeq).done.map(back)
        catch { case e: UpkeepException if e.name == "FSCK_CONFLICT" => Set.empty[Change] }
      lost.flatMap { change =>
        change.removed.map(_ -> (if (done(change)) Vacuumed else VacuumedAndChanged))
      }.toMap
    }
  }

  /** Those of the files that changes add. */
  private def problemsOf(changes: Seq[Change]): Map[Change, Seq[Problem]] = {
    val named = changes.map(change => change -> change.added.map(logged.of)).toMap
    val now = presence.looked(named.values.flatten.flatMap(pathsOf).toSeq)
    named.map { case (change, files) => change -> files.flatMap(Problem.of(_, now)) }
  }

  /** The version that a RESTORE may go back to, if rows are lost that cannot be brought back. */
  private def restoreTo(restore: RestorePlan): Option[Long] = {
    val lost = checked.problems.collect { case (id, problem) if problem.isLoss => id }.toSet
    Some(lost -- restore.restorations.flatMap(_.removed)).filter(_.nonEmpty)
      .flatMap(new WholeVersion(commits, logged, new Checked(_, deep = false).problems).before)
  }

  /** What was found out about files. What takes the place of others is looked at in depth. */
  private final class Checked(actions: Seq[AddFile], deep: Boolean) {
    val files: Seq[NamedFile] = actions.map(logged.of)
    val presences: Map[String, Presence] = presence.listed(files.flatMap(pathsOf))

    /** By file; those without a problem are not in it. */
    val problems: Map[DataFile.Id, Problem] = {
      val shallow = files.flatMap(file => Problem.of(file, presences).map(file.id -> _)).toMap
      if (!deep) shallow
      else
        shallow ++ new DeepCheck(table, logged, settings.pages).problems(actions.filterNot(add =>
          shallow.contains(logged.idOf(add))
        ))
    }
  }
}

object TableFsck {
  private val Overtaken = "another writer changed the table or the files meanwhile, so it was left alone"
  private val Vacuumed =
    "a VACUUM ran at the same time, so what was restored was taken back; run the statement again once it has ended"
  private val VacuumedAndChanged =
    "a VACUUM ran at the same time and may have deleted what was restored, and another writer has changed it since; " +
      "run the statement again once it has ended"

  private def pathsOf(file: NamedFile): Seq[String] = file.path +: file.vector.map(_.path).toSeq
}
