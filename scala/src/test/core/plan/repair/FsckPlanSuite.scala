package io.deltaupkeep.plan.repair

import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.Presence.{Gone, There, Unknown}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class FsckPlanSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val id = DataFile.Id("f", None)
  private val plain = NamedFile(id, "/t/f", 100, Some(7), None)
  private val withVector = plain.copy(vector = Some(NamedVector("/t/v", 40)))

  private def problem(data: Presence, vector: Presence): Option[Problem] =
    Problem.of(withVector, Map("/t/f" -> data, "/t/v" -> vector))

  test("what is wrong with a file, the gravest first") {
    forAll(Table(
      ("data", "vector", "problem"),
      (There(100), There(40), None),
      (There(100), There(41), None),
      (There(100), There(39), Some(Problem.ShortVector(39, 40))),
      (There(99), There(40), Some(Problem.WrongSize(99, 100))),
      (There(99), There(39), Some(Problem.WrongSize(99, 100))),
      (There(99), Gone, Some(Problem.VectorGone)),
      (There(99), Unknown("503"), Some(Problem.WrongSize(99, 100))),
      (There(100), Unknown("503"), Some(Problem.Unknown(FileKind.Vector, "503"))),
      (Gone, There(40), Some(Problem.DataGone)),
      (Gone, Unknown("503"), Some(Problem.DataGone)),
      (Gone, Gone, Some(Problem.DataGone)),
      // The file may be there, with a vector that is gone: but nothing is certain.
      (Unknown("503"), Gone, Some(Problem.Unknown(FileKind.Data, "503")))
    ))((data, vector, expected) => assert(problem(data, vector) == expected))
  }

  private val restorable =
    RestorePlan(
      Seq(Restoration(
        Seq(Rewrite(3, Set(id), Set(DataFile.Id("g", None)))),
        Set(id),
        Set(DataFile.Id("g", None))
      )),
      Map.empty
    )

  private def planned(mode: FsckMode, problem: Problem, restore: RestorePlan): FsckPlan =
    FsckPlan.of(mode, Seq(plain), _ => Gone, _ => Some(problem), restore)

  test("what is done about it") {
    import FsckAction.{Nothing, Remove}
    import FsckMode.{Check, Missing, Restore}
    val no = RestorePlan(Nil, Map(id -> "of the 2 files that version 3 replaced, 1 cannot be used"))
    val wrongSize = Problem.WrongSize(1, 2)
    val unknown = Problem.Unknown(FileKind.Data, "503")
    forAll(Table[FsckMode, Problem, RestorePlan, FsckAction, Option[Long]](
      ("mode", "problem", "restore", "action", "rows gone"),
      (Check, Problem.DataGone, no, Nothing, Some(7)),
      (Missing, Problem.DataGone, no, Remove, Some(7)),
      (Missing, Problem.VectorGone, no, Remove, Some(7)),
      (Missing, wrongSize, no, Nothing, Some(0)),
      (Missing, Problem.Damaged(FileKind.Data, "no footer"), no, Nothing, Some(0)),
      (Missing, unknown, no, Nothing, Some(0)),
      (Restore, Problem.DataGone, no, Nothing, Some(7)),
      (Check, Problem.DataGone, restorable, Nothing, Some(7)),
      (Missing, Problem.DataGone, restorable, Nothing, Some(7)),
      (Restore, Problem.DataGone, restorable, FsckAction.Restore, Some(0)),
      (Restore, wrongSize, restorable, FsckAction.Restore, Some(0))
    )) { (mode, problem, restore, action, rows) =>
      val plan = planned(mode, problem, restore)
      assert(plan.findings.map(_.action) == Seq(action) && plan.rowsGone == rows)
      assert(plan.restorations.nonEmpty == (action == FsckAction.Restore))
    }
  }

  test("a reason says what was found, and what to do next") {
    assert(
      planned(FsckMode.Missing, Problem.DataGone, restorable).findings.head.reason == "the file does not exist; " +
        "OPTIONS (mode = 'restore') brings its rows back from the 1 file that version 3 replaced"
    )
    val lost = FsckPlan.of(
      FsckMode.Restore,
      Seq(plain),
      _ => Gone,
      _ => Some(Problem.DataGone),
      RestorePlan(Nil, Map(id -> "why")),
      restoreTo = Some(2)
    )
    assert(
      lost.findings.head.reason == "the file does not exist; it cannot be restored: why; " +
        "RESTORE TABLE ... TO VERSION AS OF 2 returns to the last version whose files exist, and undoes " +
        "all later changes; OPTIONS (mode = 'missing') removes its entry from the log"
    )
  }

  test("nothing is removed while the store does not say whether rows can be brought back") {
    val plan =
      planned(FsckMode.Missing, Problem.DataGone, RestorePlan(Nil, Map(id -> "why"), isUncertain = true))
    assert(plan.removals.isEmpty && plan.findings.head.reason.endsWith(
      "run the statement again once the store answers"
    ))
  }

  test("rows that are not known are not counted as none") {
    val plan = FsckPlan.of(
      FsckMode.Missing,
      Seq(plain, plain.copy(id = DataFile.Id("g", None), path = "/t/g", rows = None)),
      _ => Gone,
      _ => Some(Problem.DataGone),
      RestorePlan.Nothing
    )
    assert(plan.rowsGone.isEmpty && plan.removesAll)
  }

  test("the rows of a result end with the totals") {
    val plan = planned(FsckMode.Missing, Problem.DataGone, RestorePlan.Nothing)
    val rows = FsckResult.of("/t", plan, dryRun = false, version = Some(9))
    val (found, totals) = (rows.head, rows.last)
    assert(rows.size == 2)
    assert(found.kind.contains("data file") && found.dataFileMissing.contains(true) && found.version.isEmpty)
    assert(totals.kind.isEmpty && totals.version.contains(9L) && totals.findings.contains(1L))
    assert(totals.message.contains("1 file, 100 B: 1 problem, 1 to remove"))
  }
}
