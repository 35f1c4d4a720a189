package org.apache.spark.sql.delta.upkeep.repair

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair._

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/** One FSCK: its plan, and its execution. The driver holds an action for each file of the table. */
final case class TableFsck(table: DeltaHandle, settings: FsckSettings) {
  import TableFsck._

  private val selected = new SelectedFiles(table, Nil)
  private val logged = new LoggedFiles(table)
  private val presence = new FilePresence(table)
  private lazy val adds: Map[DataFile.Id, AddFile] =
    selected.adds.iterator.map(add => logged.idOf(add) -> add).toMap

  private lazy val checked = new Checked(adds.values.toSeq, settings.deep)

  private val commits = new LogCommits(table)
  private lazy val brokenFiles = new BrokenFiles(table, logged, commits, new Checked(_, deep = true).problems)

  /** @throws io.deltaupkeep.UpkeepException `FSCK_STORE_UNREACHABLE`, `FSCK_ALL_FILES_GONE`, `FSCK_APPEND_ONLY` */
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
    )
    if (plan.removesAll) throw UpkeepErrors.fsckAllGone(table.name, plan.files, table.path)
    if (plan.removals.nonEmpty) RepairCommit.requireRemovable(table, settings.mode)
    val vacuum = if (plan.restorations.isEmpty) None else openVacuum
    vacuum.fold(plan)(version => plan.withoutRestorations(OpenVacuum.advice(version)))
  }

  def planned(): Seq[FsckResult] = FsckResult.of(table.path, plan, dryRun = true, version = None)

  /** @throws io.deltaupkeep.UpkeepException `FSCK_CONFLICT` if every attempt of a commit met a conflict */
  def execute(): Seq[FsckResult] = {
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
    val done = kept(commit(removals.keys.toSeq ++ restorations.keys))
    val changed = done.done.flatMap(_.removed)
    val outcome = plan.copy(findings = plan.findings.map { finding =>
      if (finding.action == FsckAction.Nothing || changed(finding.file.id)) finding
      else finding.without(Overtaken)
    })
    FsckResult.of(table.path, outcome, dryRun = false, done.version)
  }

  private def stillGone(changes: Seq[Change], removals: Map[Change, Finding]): Set[Change] = {
    def lost(change: Change) = {
      val finding = removals(change)
      if (finding.problem == Problem.DataGone) finding.file.path else finding.file.vector.get.path
    }
    val now = presence.looked(changes.map(lost))
    changes.filter(change => now(lost(change)) == Presence.Gone).toSet
  }

  private def stillThere(changes: Seq[Change]): Set[Change] =
    if (openVacuum.nonEmpty) Set.empty else present(changes)

  /** Takes back what a VACUUM undid: what was replaced may have been whole in part. */
  private def kept(done: Repaired): Repaired = {
    val restored = done.done.filter(_.added.nonEmpty)
    val lost = restored -- present(restored.toSeq)
    if (lost.isEmpty) done
    else {
      val newest = table.updated(RepairCommit.Statement, Intent.Reorganize)
      val back = lost.toSeq.map { change =>
        Change(change.added.map(logged.idOf).toSet, change.removed.toSeq.map(adds))
      }
      val version =
        new RepairCommit(newest, new SelectedFiles(newest, Nil), settings.mode, _.toSet)(back).version
      Repaired(version.orElse(done.version), done.done -- lost)
    }
  }

  private def openVacuum: Option[Long] = new OpenVacuum(table).version

  /** The changes whose new files are all there. */
  private def present(changes: Seq[Change]): Set[Change] = {
    val named = changes.map(change => change -> change.added.map(logged.of)).toMap
    val now = presence.looked(named.values.flatten.flatMap(pathsOf).toSeq)
    changes.filter(change => named(change).forall(file => Problem.of(file, now).isEmpty)).toSet
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
        shallow ++ new DeepCheck(table, logged).problems(actions.filterNot(add =>
          shallow.contains(logged.idOf(add))
        ))
    }
  }
}

object TableFsck {
  private val Overtaken = "another writer changed the table or the files meanwhile, so it was left alone"

  private def pathsOf(file: NamedFile): Seq[String] = file.path +: file.vector.map(_.path).toSeq
}
