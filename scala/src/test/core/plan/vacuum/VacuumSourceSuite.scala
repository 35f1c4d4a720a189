package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.log.KnownRemovals
import io.deltaupkeep.log.LogFiles._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class VacuumSourceSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import VacuumMode.{Full, Log}

  /** Of a log with commits from a version on, and records. */
  private def removals(oldest: Long, records: Seq[(Long, Long)] = Nil): KnownRemovals =
    KnownRemovals.of((oldest to 10L).map(commit(_)) ++ records.map((removedFiles _).tupled))

  test("the log is read where it has every commit that no VACUUM has seen") {
    val cases = Table(
      ("asked", "oldest", "lastVacuum", "until", "source"),
      (None, 0L, None, Some(5L), Some(Log -> Some(0L -> 5L))),
      (None, 0L, Some(2L), Some(5L), Some(Log -> Some(3L -> 5L))),
      (None, 3L, Some(2L), Some(5L), Some(Log -> Some(3L -> 5L))),
      (None, 4L, Some(2L), Some(5L), Some(Full -> None)),
      (None, 4L, None, Some(5L), Some(Full -> None)),
      (None, 0L, Some(5L), Some(5L), Some(Log -> None)),
      (None, 0L, Some(9L), Some(5L), Some(Log -> None)),
      (None, 0L, None, None, Some(Log -> None)),
      (Some(Log), 4L, Some(2L), Some(5L), None),
      (Some(Log), 4L, Some(3L), Some(5L), Some(Log -> Some(4L -> 5L))),
      (Some(Full), 0L, Some(2L), Some(5L), Some(Full -> None))
    )
    forAll(cases) { (asked, oldest, lastVacuum, until, source) =>
      val chosen = VacuumSource.choose(asked, KnownPast(removals(oldest), lastVacuum, until))(_ => None)
      assert(chosen.map(found => found.mode -> found.versions) == source)
    }
  }

  test("commits that are too many are not read, unless that was asked for") {
    val known = KnownPast(removals(0), None, Some(5))
    assert(VacuumSource.choose(None, known)(_ => Some("they take 1 GiB")).exists(_.mode == Full))
    assert(VacuumSource.choose(Some(Log), known)(_ => Some("they take 1 GiB")).exists(_.mode == Log))
  }

  test("a record stands for the commits that it was made of") {
    val cases = Table(
      ("asked", "records", "oldest", "lastVacuum", "until", "source"),
      (None, Seq(0L -> 3L), 4L, None, Some(5L), Some(Log -> Some(0L -> 5L))),
      (Some(Log), Seq(3L -> 3L, 1L -> 2L), 4L, Some(0L), Some(5L), Some(Log -> Some(1L -> 5L))),
      (None, Seq(3L -> 3L, 1L -> 2L), 4L, None, Some(5L), Some(Full -> None)),
      (None, Seq(0L -> 1L, 3L -> 3L), 4L, None, Some(5L), Some(Full -> None)),
      // No commit has expired, but all those that are gone may have.
      (None, Seq(0L -> 3L), 4L, None, None, Some(Log -> Some(0L -> 3L))),
      (None, Seq(0L -> 3L), 4L, Some(3L), None, Some(Log -> None)),
      // A cleanup was cut short.
      (None, Seq(0L -> 7L), 4L, None, Some(5L), Some(Log -> Some(0L -> 5L)))
    )
    forAll(cases) { (asked, records, oldest, lastVacuum, until, source) =>
      val chosen =
        VacuumSource.choose(asked, KnownPast(removals(oldest, records), lastVacuum, until))(_ => None)
      assert(chosen.map(found => found.mode -> found.versions) == source)
    }
  }
}
