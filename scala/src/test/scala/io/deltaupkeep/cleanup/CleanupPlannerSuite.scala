package io.deltaupkeep.cleanup

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CleanupPlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import Logs._
  import Reason._

  private def plan(
      files: Seq[LogFile],
      cutoffCommit: Option[Long],
      references: Map[String, SidecarReferences] = Map.empty,
      protection: Option[Long] = None
  ): CleanupPlan =
    CleanupPlanner.plan(CleanupInput(files, now, now - 30 * day, cutoffCommit, references, protection))

  private def reasonOf(plan: CleanupPlan, file: LogFile): Reason =
    plan.verdicts.find(_.file == file).map(_.reason).getOrElse(fail(s"no verdict on $file"))

  /** Four kinds of checkpoint of one version, each complete, with what it references. */
  private def kinds(version: Long): Seq[(String, Seq[LogFile], Map[String, SidecarReferences])] = {
    val json = v2(version, "aaa")
    val parquet = v2(version, "bbb", format = "parquet")
    Seq(
      ("classic", Seq(classic(version)), Map.empty),
      ("multi-part", Seq(part(version, 1, 2), part(version, 2, 2)), Map.empty),
      ("v2 json", Seq(json, sidecar("s1")), Map(json.name -> named("s1"))),
      ("v2 parquet", Seq(parquet, sidecar("s1")), Map(parquet.name -> named("s1"))),
      (
        "classic name, v2 inside",
        Seq(classic(version), sidecar("s1")),
        Map(classic(version).name -> named("s1"))
      )
    )
  }

  test("every kind of checkpoint bounds what goes") {
    kinds(5).foreach { case (kind, checkpoint, references) =>
      val files = commits(0, 9) ++ (0L to 9L).map(checksum(_)) ++ checkpoint
      val result = plan(files, Some(7), references)
      assert(result.cutoffCheckpoint.contains(5L), kind)
      val gone = result.deletions.toSet
      assert(gone == (commits(0, 4) ++ (0L to 4L).map(checksum(_))).toSet, kind)
      assert(result.oldestReadableVersion.contains(5L), kind)
    }
  }

  test("every kind of checkpoint goes when a newer one stands in") {
    kinds(3).foreach { case (kind, checkpoint, references) =>
      val files = commits(0, 9) ++ checkpoint :+ classic(6)
      val result = plan(files, Some(7), references)
      checkpoint.foreach { file =>
        val expected = if (file.kind == LogFileKind.Sidecar) UnreferencedSidecar else BeforeCutoff
        assert(reasonOf(result, file) == expected, kind)
      }
    }
  }

  test("the cutoff checkpoint by retention") {
    val files = commits(0, 9) ++ Seq(classic(2), classic(5), classic(8))
    val cases = Table(
      ("cutoff commit", "checkpoint", "oldest readable"),
      (None, None, 0L),
      (Some(0L), None, 0L),
      (Some(1L), None, 0L),
      (Some(2L), Some(2L), 2L),
      (Some(4L), Some(2L), 2L),
      (Some(5L), Some(5L), 5L),
      (Some(9L), Some(8L), 8L)
    )
    forAll(cases) { (cutoffCommit, checkpoint, oldest) =>
      val result = plan(files, cutoffCommit)
      assert(result.cutoffCheckpoint == checkpoint)
      assert(result.oldestReadableVersion.contains(oldest))
      assert(result.isEmpty == checkpoint.isEmpty)
    }
  }

  test("a checkpoint that no reader can use is no place to stand on") {
    val broken = v2(5, "aaa")
    val cases = Table(
      ("what", "files", "references"),
      ("a part is missing", Seq(part(5, 1, 3), part(5, 2, 3)), Map.empty[String, SidecarReferences]),
      (
        "a part is empty",
        Seq(part(5, 1, 2), part(5, 2, 2).copy(sizeInBytes = 0)),
        Map.empty[String, SidecarReferences]
      ),
      ("parts of two sets", Seq(part(5, 1, 2), part(5, 2, 3)), Map.empty[String, SidecarReferences]),
      ("empty file", Seq(classic(5).copy(sizeInBytes = 0)), Map.empty[String, SidecarReferences]),
      ("a sidecar is missing", Seq(broken, sidecar("s1")), Map(broken.name -> named("s1", "s2"))),
      (
        "unreadable",
        Seq(broken),
        Map[String, SidecarReferences](broken.name -> SidecarReferences.Unreadable("torn"))
      )
    )
    forAll(cases) { (_, files, references) =>
      val result = plan(commits(0, 9) ++ files :+ classic(2), Some(7), references)
      assert(result.cutoffCheckpoint.contains(2L))
      assert(result.oldestReadableVersion.contains(2L))
    }
  }

  test("a checkpoint without its commit is no place to stand on") {
    val result = plan(commits(0, 4) ++ commits(6, 9) ++ Seq(classic(2), classic(5)), Some(7))
    assert(result.cutoffCheckpoint.contains(2L))
  }

  test("what cannot be used goes once it is older than a day") {
    val cases = Table(
      ("file", "reason when old", "reason when young"),
      ((time: Long) => part(7, 1, 3, time), IncompleteCheckpoint, Young),
      ((time: Long) => classic(7, time).copy(sizeInBytes = 0), IncompleteCheckpoint, Young),
      ((time: Long) => sidecar("lost", time), UnreferencedSidecar, Young),
      ((time: Long) => temporary(time), AbandonedTemporary, Young)
    )
    forAll(cases) { (file, whenOld, whenYoung) =>
      Seq(Some(7L), None).foreach { cutoffCommit =>
        val files = commits(0, 9)
        assert(reasonOf(plan(files :+ file(old), cutoffCommit), file(old)) == whenOld)
        assert(reasonOf(plan(files :+ file(young), cutoffCommit), file(young)) == whenYoung)
      }
    }
  }

  test("a day is counted at midnight UTC") {
    val midnightOfYesterday = 999 * day
    val files = commits(0, 1)
    assert(reasonOf(
      plan(files :+ sidecar("a", midnightOfYesterday), None),
      sidecar("a", midnightOfYesterday)
    ) == Young)
    val justBefore = sidecar("a", midnightOfYesterday - 1)
    assert(reasonOf(plan(files :+ justBefore, None), justBefore) == UnreferencedSidecar)
  }

  test("log compactions and staged commits go when the checkpoint covers them") {
    val cases = Table(
      ("file", "reason"),
      (compaction(2, 4), CoveredByCutoff),
      (compaction(4, 7), CoveredByCutoff),
      (compaction(5, 7), CoveredByCutoff),
      (compaction(6, 8), InsideRetention),
      (staged(4), CoveredByCutoff),
      (staged(5), CoveredByCutoff),
      (staged(6), InsideRetention)
    )
    forAll(cases) { (file, reason) =>
      assert(reasonOf(plan(commits(0, 9) ++ Seq(classic(5), file), Some(7)), file) == reason)
    }
  }

  test("a sidecar that a checkpoint shares stays with the one that stays") {
    val (before, after) = (v2(3, "aaa"), v2(6, "bbb"))
    val files = commits(0, 9) ++ Seq(before, after, sidecar("both"), sidecar("first"), sidecar("second"))
    val references = Map(before.name -> named("both", "first"), after.name -> named("both", "second"))
    val result = plan(files, Some(7), references)
    assert(reasonOf(result, before) == BeforeCutoff)
    assert(reasonOf(result, sidecar("both")) == ReferencedSidecar)
    assert(reasonOf(result, sidecar("second")) == ReferencedSidecar)
    assert(reasonOf(result, sidecar("first")) == UnreferencedSidecar)
  }

  test("an unreadable checkpoint that stays keeps every sidecar") {
    val torn = v2(8, "aaa")
    val files = commits(0, 9) ++ Seq(classic(5), torn, sidecar("whose"))
    val result = plan(files, Some(7), Map(torn.name -> SidecarReferences.Unreadable("torn")))
    assert(reasonOf(result, torn) == InsideRetention)
    assert(reasonOf(result, sidecar("whose")) == UnreadableCheckpoint)
  }

  test("checkpointProtection keeps the checkpoints after the boundary, whole or not") {
    val lost = part(7, 1, 3)
    val files = commits(0, 9) ++ Seq(classic(5), lost)
    assert(reasonOf(plan(files, Some(7), protection = Some(9)), lost) == Protected)
    assert(reasonOf(plan(files, Some(7), protection = Some(7)), lost) == IncompleteCheckpoint)
    assert(plan(files, Some(7), protection = Some(9)).deletions == commits(0, 4))
  }

  test("what is no file of the protocol is left alone") {
    val files =
      Seq(file("README", old), file("_last_checkpoint", old), LogFile(LogDirectory.Sidecars, "x.txt", 1, old))
    val result = plan(commits(0, 9) ++ files :+ classic(5), Some(7))
    assert(files.map(reasonOf(result, _)) == Seq(Foreign, Pointer, Foreign))
  }

  test("deletions run from the oldest version on, sidecars last") {
    val checkpoint = v2(2, "aaa")
    val files = Seq(sidecar("s"), temporary(old), checkpoint) ++ commits(0, 9) ++
      Seq(checksum(1), classic(5), compaction(0, 3), staged(1))
    val order = plan(files, Some(7), Map(checkpoint.name -> named("s"))).deletions
    assert(order == Seq(compaction(0, 3), commit(0), checksum(1), staged(1), commit(1), checkpoint) ++
      commits(2, 4) ++ Seq(temporary(old), sidecar("s")))
  }

  test("the message says what goes, or why nothing does") {
    val cases = Table(
      ("plan", "message"),
      (
        plan(commits(0, 3), None),
        "0 expired files and 0 leftovers to delete: no commit is older than the cutoff."
      ),
      (
        plan(commits(0, 3), Some(2)),
        "0 expired files and 0 leftovers to delete: no complete checkpoint at or before version 2 to stand on."
      ),
      (
        plan(commits(0, 3) ++ Seq(classic(2), temporary(old)), Some(2)),
        "2 expired files and 1 leftovers to delete: the checkpoint of version 2 stands in for all before it."
      )
    )
    forAll(cases)((plan, message) => assert(plan.message == message))
    assert(plan(commits(0, 3), Some(2)).needsCheckpoint)
  }
}
