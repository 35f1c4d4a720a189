package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.{LogDirectory, LogFile, LogFileKind, SidecarReferences}
import io.deltaupkeep.log.LogFiles._
import io.deltaupkeep.log.SidecarReferences.{Named, Unreadable}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CleanupPlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def plan(
      files: Seq[LogFile],
      cutoffCommit: Option[Long],
      references: Map[String, SidecarReferences] = Map.empty,
      protection: Option[Long] = None
  ): CleanupPlan =
    CleanupPlanner.plan(CleanupInput(
      files.toIndexedSeq,
      Now,
      Now - 30 * Day,
      cutoffCommit,
      references,
      protection
    ))

  private def commits(versions: Seq[Int]): Seq[LogFile] = versions.map(version => commit(version.toLong))

  private def reasons(plan: CleanupPlan): Map[LogFile, Reason] =
    plan.verdicts.map(verdict => verdict.file -> verdict.reason).toMap

  private def names(files: Seq[LogFile]): Seq[String] = files.map(_.path)

  /** A checkpoint's files in the root of the log, and the sidecars that each of them names. */
  private case class Checkpoint(files: Seq[LogFile], sidecars: Seq[LogFile] = Nil) {
    def references: Map[String, SidecarReferences] =
      if (sidecars.isEmpty) Map.empty else files.map(_.name -> Named(sidecars.map(_.name).toSet)).toMap
  }

  /** Each names a sidecar of its own, one that every checkpoint names, and one that only 4 and 8 name. */
  private def sidecarsOf(version: Long): Seq[LogFile] =
    Seq(sidecar(s"own-$version.parquet"), sidecar("of-all.parquet")) ++
      Option.when(version < 12)(sidecar("of-4-and-8.parquet"))

  private val kinds = Table(
    ("kind", "checkpoint at a version"),
    ("classic", (version: Long) => Checkpoint(Seq(classic(version)))),
    ("multi-part", (version: Long) => Checkpoint((1 to 3).map(part(version, _, 3)))),
    ("v2 json", (version: Long) => Checkpoint(Seq(v2(version, "a", "json")), sidecarsOf(version))),
    ("v2 parquet", (version: Long) => Checkpoint(Seq(v2(version, "a", "parquet")), sidecarsOf(version))),
    ("v2 without sidecars", (version: Long) => Checkpoint(Seq(v2(version, "a", "parquet")))),
    ("classic with sidecars", (version: Long) => Checkpoint(Seq(classic(version)), sidecarsOf(version))),
    (
      "v2 and classic at once",
      (version: Long) => Checkpoint(Seq(v2(version, "a", "json"), classic(version)), sidecarsOf(version))
    )
  )

  private val retentions = Table(
    ("cutoff commit", "cutoff checkpoint", "oldest readable"),
    (None, None, 0L),
    (Some(0L), None, 0L),
    (Some(3L), None, 0L),
    (Some(4L), Some(4L), 4L),
    (Some(7L), Some(4L), 4L),
    (Some(8L), Some(8L), 8L),
    (Some(11L), Some(8L), 8L),
    (Some(12L), Some(12L), 12L),
    (Some(16L), Some(12L), 12L)
  )

  /** Files that are judged by nothing but their own name and age. */
  private val standalone: Map[LogFile, Reason] = Map(
    temporary(LogDirectory.Root, "00000000000000000002.json", Old) -> Reason.AbandonedTemporary,
    temporary(LogDirectory.Root, "00000000000000000017.json", YoungFrom) -> Reason.Young,
    temporary(LogDirectory.Sidecars, "x.parquet", Old) -> Reason.AbandonedTemporary,
    temporary(LogDirectory.StagedCommits, "00000000000000000003.u.json", Old) -> Reason.AbandonedTemporary,
    temporary(LogDirectory.StagedCommits, "00000000000000000017.u.json", Now) -> Reason.Young,
    sidecar("orphan.parquet", Old) -> Reason.UnreferencedSidecar,
    sidecar("in-progress.parquet", YoungFrom) -> Reason.Young,
    sidecar("notes.txt") -> Reason.Foreign,
    root("notes.txt") -> Reason.Foreign,
    pointer -> Reason.Pointer
  )

  test("every kind of file, with every kind of checkpoint, for every place of the cutoff") {
    forAll(kinds) { (_, checkpointAt) =>
      val checkpoints = Seq(4L, 8L, 12L).map(version => version -> checkpointAt(version))
      val versions = 0L to 16L
      val compactions = Seq(compaction(1, 3), compaction(3, 6), compaction(8, 10), compaction(9, 11))
      val stagedCommits = Seq(staged(4, "a"), staged(7, "b"), staged(8, "c"), staged(9, "d"))
      val versioned = versions.map(commit(_)) ++ versions.map(checksum) ++ checkpoints.flatMap(_._2.files)
      val sidecars = checkpoints.flatMap { case (_, checkpoint) => checkpoint.sidecars }.distinct
      val files = versioned ++ compactions ++ stagedCommits ++ sidecars ++ standalone.keys
      val references = checkpoints.flatMap { case (_, checkpoint) => checkpoint.references }.toMap

      forAll(retentions) { (cutoffCommit, cutoffCheckpoint, oldestReadable) =>
        val stay =
          if (cutoffCommit.isEmpty) Reason.NoCommitExpired
          else if (cutoffCheckpoint.isEmpty) Reason.NoCheckpoint
          else Reason.InsideRetention
        val boundary = cutoffCheckpoint.getOrElse(-1L)
        val namedByKept = checkpoints.filter(_._1 >= boundary).flatMap(_._2.sidecars).toSet
        val expected = standalone ++
          versioned.map { file =>
            file -> (if (file.kind.version.exists(_ < boundary)) Reason.BeforeCutoff else stay)
          } ++
          compactions.zip(Seq(1, 3, 8, 9)).map { case (file, start) =>
            file -> (if (start <= boundary) Reason.CoveredByCutoff else stay)
          } ++
          stagedCommits.zip(Seq(4, 7, 8, 9)).map { case (file, version) =>
            file -> (if (version <= boundary) Reason.CoveredByCutoff else stay)
          } ++
          sidecars.map { file =>
            file -> (if (namedByKept(file)) Reason.ReferencedSidecar else Reason.UnreferencedSidecar)
          }
        val result = plan(files, cutoffCommit, references)
        assert(result.cutoffCheckpoint == cutoffCheckpoint)
        assert(result.oldestReadableVersion.contains(oldestReadable))
        assert(reasons(result) == expected)
        assert(result.verdicts.size == files.size)
      }
    }
  }

  test("the checkpoint that _last_checkpoint names stays, and what follows it") {
    val files = (0L to 16L).map(commit(_)) ++ Seq(classic(4), classic(8), classic(12))
    def cutoff(pointer: Option[Long]): (Option[Long], Boolean) = {
      val result =
        CleanupPlanner.plan(CleanupInput(files, Now, Now - Day, Some(14L), Map.empty, None, pointer))
      (result.cutoffCheckpoint, result.message.contains("_last_checkpoint names version"))
    }
    assert(cutoff(Some(12)) == ((Some(12L), false)))
    assert(cutoff(Some(8)) == ((Some(8L), true)))
    // Readers look for another one where none has that version.
    assert(cutoff(Some(7)) == ((Some(12L), false)))
    assert(cutoff(None) == ((Some(12L), false)))
  }

  test("what VACUUM has not read of the commits that go") {
    val files = (0L to 16L).map(commit(_)) :+ classic(8)
    def unseen(progress: VacuumProgress, records: Seq[(Long, Long)], from: Int) =
      CleanupPlanner.plan(CleanupInput(
        files.drop(from) ++ records.map((removedFiles _).tupled),
        Now,
        Now - Day,
        Some(14L),
        Map.empty,
        None,
        vacuum = progress
      )).unseenByVacuum
    forAll(Table(
      ("last", "used", "records", "commits from", "unseen"),
      (None, false, Nil, 0, Some(UnseenByVacuum(0, 7, isKept = false))),
      (None, true, Nil, 0, Some(UnseenByVacuum(0, 7, isKept = true))),
      (Some(3L), true, Nil, 0, Some(UnseenByVacuum(4, 7, isKept = true))),
      (Some(6L), true, Nil, 0, Some(UnseenByVacuum(7, 7, isKept = true))),
      (Some(7L), true, Nil, 0, None),
      (Some(12L), true, Nil, 0, None),
      // VACUUM has to list the directories anyway.
      (None, true, Nil, 2, None),
      (Some(0L), true, Nil, 2, None),
      (None, true, Seq(0L -> 1L), 2, Some(UnseenByVacuum(2, 7, isKept = true))),
      // A cleanup was cut short once it had written its record.
      (None, true, Seq(0L -> 7L), 2, None),
      (None, true, Seq(0L -> 5L), 2, Some(UnseenByVacuum(6, 7, isKept = true)))
    )) { (last, used, records, from, expected) =>
      assert(unseen(VacuumProgress(last, used), records, from) == expected)
    }
  }

  test("a record stays until VACUUM has read it") {
    val files = (8L to 16L).map(commit(_)) ++ Seq(classic(8), removedFiles(0, 3), removedFiles(4, 7))
    def kept(last: Option[Long]) = CleanupPlanner.plan(CleanupInput(
      files,
      Now,
      Now - Day,
      Some(7L),
      Map.empty,
      None,
      vacuum = VacuumProgress(last, isUsed = true)
    )).verdicts.filter(_.file.kind.isInstanceOf[LogFileKind.RemovedFiles]).map(_.reason)
    assert(kept(None) == Seq(Reason.ForVacuum, Reason.ForVacuum))
    assert(kept(Some(6)) == Seq(Reason.ReadByVacuum, Reason.ForVacuum))
    assert(kept(Some(7)) == Seq(Reason.ReadByVacuum, Reason.ReadByVacuum))
  }

  test("time travel reaches back as far as the log and the data files do") {
    val files = (0L to 16L).map(commit(_)) ++ Seq(classic(4), classic(8), classic(12))
    def oldest(past: Option[Long]): Option[Long] =
      CleanupPlanner
        .plan(CleanupInput(files, Now, Now - Day, Some(9L), Map.empty, None, None, past))
        .oldestTimeTravelVersion
    assert(Seq(None, Some(3L), Some(11L), Some(16L)).map(oldest) == Seq(8L, 8L, 12L, 16L).map(Some(_)))
  }

  test("an empty log has an empty plan") {
    val result = plan(Nil, None)
    assert(result.isEmpty && result.verdicts.isEmpty && result.totals.isEmpty)
    assert(result.oldestReadableVersion.isEmpty)
  }

  test("a checkpoint that is not whole is no cutoff: an older one is, or none") {
    val zeroV2 = v2(8, "a", "json", size = 0)
    val v2At8 = v2(8, "a", "json")
    val none = Map.empty[String, SidecarReferences]
    def refers(file: LogFile, to: SidecarReferences): Map[String, SidecarReferences] = Map(file.name -> to)
    forAll(Table(
      ("case", "checkpoint files of version 8", "references", "complete"),
      ("classic", Seq(classic(8)), none, true),
      ("classic of no bytes", Seq(classic(8, size = 0)), none, false),
      ("a part is missing", Seq(part(8, 1, 3), part(8, 3, 3)), none, false),
      ("a part has no bytes", Seq(part(8, 1, 2), part(8, 2, 2, size = 0)), none, false),
      ("a part is damaged", Seq(part(8, 1, 2), part(8, 2, 2)), refers(part(8, 2, 2), Unreadable("")), false),
      ("classic that is damaged", Seq(classic(8)), refers(classic(8), Unreadable("truncated")), false),
      ("parts of two sets do not add up", Seq(part(8, 1, 2), part(8, 2, 3), part(8, 3, 3)), none, false),
      ("one of two sets is whole", Seq(part(8, 1, 2), part(8, 1, 1)), none, true),
      ("one part is named twice", Seq(part(8, 1, 2), root("8.checkpoint.1.2.parquet")), none, false),
      ("v2 of no bytes", Seq(zeroV2), none, false),
      ("v2 that names no sidecar", Seq(v2At8), refers(v2At8, Named(Set.empty)), true),
      ("v2 with its sidecar", Seq(v2At8), refers(v2At8, Named(Set("there.parquet"))), true),
      (
        "v2 without one of its sidecars",
        Seq(v2At8),
        refers(v2At8, Named(Set("there.parquet", "gone.parquet"))),
        false
      ),
      ("v2 with a sidecar of no bytes", Seq(v2At8), refers(v2At8, Named(Set("zero.parquet"))), false),
      ("v2 that cannot be read", Seq(v2At8), refers(v2At8, Unreadable("truncated")), false),
      (
        "classic without its sidecar",
        Seq(classic(8)),
        refers(classic(8), Named(Set("gone.parquet"))),
        false
      ),
      (
        "unreadable v2, which Delta prefers, beside a classic one",
        Seq(v2At8, classic(8)),
        refers(v2At8, Unreadable("truncated")),
        false
      ),
      (
        "v2 of no bytes beside a classic one",
        Seq(v2At8.copy(sizeInBytes = 0), classic(8)),
        refers(v2At8, Unreadable("no bytes")),
        true
      )
    )) { (_, checkpoint, references, complete) =>
      val sidecars = Seq(sidecar("there.parquet", Now), sidecar("zero.parquet", Now, size = 0))
      val others = commits(0 to 10) ++ sidecars ++ checkpoint
      assert(plan(others, Some(9), references).cutoffCheckpoint == Option.when(complete)(8L))
      assert(plan(others :+ classic(4), Some(9), references).cutoffCheckpoint.contains(if (complete) 8L
      else 4L))
    }
  }

  test("a checkpoint without the commit of its version is no cutoff") {
    val files = commits((0 to 10).filterNot(_ == 8)) ++ Seq(classic(4), classic(8))
    val result = plan(files, Some(9))
    assert(result.cutoffCheckpoint.contains(4L))
    assert(reasons(result)(classic(8)) == Reason.InsideRetention)
  }

  test("versions behind a gap that only a newer checkpoint bridges stay readable") {
    val files = commits((0 to 12).filterNot(_ == 6)) ++ Seq(classic(4), classic(10))
    val result = plan(files, Some(9))
    assert(result.cutoffCheckpoint.contains(4L))
    assert(names(result.deletions) == names(commits(0 to 3)))
    assert(result.oldestReadableVersion.contains(10L))
  }

  test("what is left of an incomplete checkpoint goes once all of it is older than a day") {
    val v2Damaged = v2(9, "a", "parquet")
    val none = Map.empty[String, SidecarReferences]
    val missingSidecar = none + (v2Damaged.name -> Named(Set("gone.parquet")))
    def unreadable(problem: String) = none + (v2Damaged.name -> Unreadable(problem))
    forAll(Table(
      ("case", "files", "references", "reason"),
      ("old parts", Seq(part(9, 1, 3), part(9, 3, 3)), none, Reason.IncompleteCheckpoint),
      ("one part is young", Seq(part(9, 1, 3), part(9, 3, 3, time = YoungFrom)), none, Reason.Young),
      ("old classic of no bytes", Seq(classic(9, size = 0)), none, Reason.IncompleteCheckpoint),
      ("young classic of no bytes", Seq(classic(9, Now, 0)), none, Reason.Young),
      ("old v2 of no bytes", Seq(v2(9, "a", "json", size = 0)), none, Reason.IncompleteCheckpoint),
      (
        "old v2 of no bytes that was tried to read",
        Seq(v2Damaged.copy(sizeInBytes = 0)),
        unreadable("empty"),
        Reason.IncompleteCheckpoint
      ),
      ("old v2 without its sidecar", Seq(v2Damaged), missingSidecar, Reason.IncompleteCheckpoint),
      ("old v2 that cannot be read", Seq(v2Damaged), unreadable("io"), Reason.InsideRetention)
    )) { (_, incomplete, references, reason) =>
      val result = plan(commits(0 to 10) ++ Seq(classic(8)) ++ incomplete, Some(8), references)
      incomplete.foreach(file => assert(reasons(result)(file) == reason))
    }
  }

  test("leftovers go even where no version does") {
    val leftovers = Seq(
      part(2, 1, 2),
      temporary(LogDirectory.Root, "00000000000000000002.json", Old),
      sidecar("orphan.parquet")
    )
    forAll(Table(
      ("message", "cutoff commit", "reason of the others"),
      ("no commit is older than the cutoff", None, Reason.NoCommitExpired),
      ("no complete checkpoint at or before version 2", Some(2L), Reason.NoCheckpoint)
    )) { (message, cutoffCommit, reason) =>
      val result = plan(commits(0 to 3) ++ leftovers, cutoffCommit)
      assert(result.deletions.toSet == leftovers.toSet)
      commits(0 to 3).foreach(file => assert(reasons(result)(file) == reason))
      assert(result.message.contains(message))
      assert(result.oldestReadableVersion.contains(0L))
    }
  }

  test("a sidecar of a checkpoint that goes stays when one that stays names it, or it is young") {
    val (old, kept) = (v2(4, "a", "json"), v2(8, "b", "parquet"))
    val shared = sidecar("shared.parquet")
    val (mine, young) = (sidecar("mine.parquet"), sidecar("young.parquet", YoungFrom))
    val references = Map(
      old.name -> Named(Set(shared.name, mine.name, young.name)),
      kept.name -> Named(Set(shared.name))
    )
    val result = plan(commits(0 to 10) ++ Seq(old, kept, shared, mine, young), Some(8), references)
    assert(reasons(result)(shared) == Reason.ReferencedSidecar)
    assert(reasons(result)(mine) == Reason.UnreferencedSidecar)
    assert(reasons(result)(young) == Reason.Young)
  }

  test("a checkpoint that stays and cannot be read keeps every sidecar; one that goes keeps none") {
    val (old, orphan) = (v2(4, "a", "json"), sidecar("orphan.parquet"))
    val files = commits(0 to 10) ++ Seq(old, classic(8), orphan)
    val references = Map(old.name -> Unreadable("truncated"))
    val goes = plan(files, Some(8), references)
    assert(reasons(goes)(old) == Reason.BeforeCutoff)
    assert(reasons(goes)(orphan) == Reason.UnreferencedSidecar)
    val stays = plan(files, Some(7), references)
    assert(stays.cutoffCheckpoint.isEmpty)
    assert(reasons(stays)(old) == Reason.NoCheckpoint)
    assert(reasons(stays)(orphan) == Reason.UnreadableCheckpoint)
  }

  test("checkpointProtection: what is left of a checkpoint stays until all protected history goes at once") {
    val (atBoundary, after) = (classic(8, size = 0), part(9, 1, 2))
    val files = commits(0 to 12) ++ Seq(classic(4), part(8, 1, 1), atBoundary, after)
    forAll(Table(
      ("protected before", "cutoff commit", "cutoff checkpoint", "reason"),
      (None, Some(8L), Some(8L), Reason.IncompleteCheckpoint),
      (Some(0L), Some(8L), Some(8L), Reason.IncompleteCheckpoint),
      (Some(8L), Some(8L), Some(8L), Reason.IncompleteCheckpoint),
      (Some(9L), Some(8L), Some(8L), Reason.Protected),
      (Some(100L), Some(8L), Some(8L), Reason.Protected),
      (Some(8L), Some(7L), Some(4L), Reason.Protected),
      (Some(3L), Some(7L), Some(4L), Reason.IncompleteCheckpoint),
      (Some(1L), None, None, Reason.Protected),
      (Some(0L), None, None, Reason.IncompleteCheckpoint)
    )) { (protection, cutoffCommit, cutoffCheckpoint, reason) =>
      val result = plan(files, cutoffCommit, protection = protection)
      assert(result.cutoffCheckpoint == cutoffCheckpoint)
      assert(reasons(result)(atBoundary) == reason)
      assert(reasons(result)(after) == reason)
      assert(
        result.deletions.count(_.kind.isInstanceOf[LogFileKind.Commit]) == cutoffCheckpoint.getOrElse(0L)
      )
    }
  }

  test("deletions go from the oldest version on, compactions first, sidecars last") {
    val old = v2(2, "a", "json")
    val files = commits(0 to 5) ++ Seq(
      sidecar("orphan.parquet"),
      old,
      temporary(LogDirectory.Root, "x", Old),
      part(4, 1, 2),
      checksum(2),
      staged(2, "u"),
      staged(3, "u"),
      compaction(1, 2),
      compaction(3, 5),
      classic(3)
    )
    val result = plan(files, Some(3), Map(old.name -> Named(Set("orphan.parquet"))))
    assert(names(result.deletions) == names(Seq(
      compaction(1, 2),
      compaction(3, 5),
      commit(0),
      commit(1),
      checksum(2),
      staged(2, "u"),
      old,
      commit(2),
      staged(3, "u"),
      part(4, 1, 2),
      temporary(LogDirectory.Root, "x", Old),
      sidecar("orphan.parquet")
    )))
  }

  test("totals count files and bytes by reason, and the message says what goes and why") {
    val files = commits(0 to 5) ++ Seq(classic(3, size = 100), root("notes.txt", size = 7))
    val result = plan(files, Some(4))
    assert(result.totals == Seq(
      ReasonTotal(Reason.BeforeCutoff, 3, 30),
      ReasonTotal(Reason.InsideRetention, 4, 130),
      ReasonTotal(Reason.Foreign, 1, 7)
    ))
    assert(result.totals.map(_.verdict) == Seq(Verdict.Delete, Verdict.Keep, Verdict.Keep))
    assert(result.message.contains("3 expired files") && result.message.contains("version 3"))
    assert(!result.needsCheckpoint)
    assert(plan(commits(0 to 5), Some(4)).needsCheckpoint)
  }
}
