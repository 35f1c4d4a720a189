package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.log.{CommitTimes, LogDirectory, LogFile}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class VacuumSourceSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import VacuumMode.{Full, Log}

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
      val chosen = VacuumSource.choose(asked, KnownCommits(oldest, lastVacuum, until))(_ => None)
      assert(chosen.map(found => found.mode -> found.versions) == source)
    }
  }

  test("commits that are too many are not read, unless that was asked for") {
    val known = KnownCommits(0, None, Some(5))
    assert(VacuumSource.choose(None, known)(_ => Some("they take 1 GiB")).exists(_.mode == Full))
    assert(VacuumSource.choose(Some(Log), known)(_ => Some("they take 1 GiB")).exists(_.mode == Log))
  }

  test("the oldest commit behind which none is missing") {
    val cases = Table(
      ("versions", "oldest"),
      (Seq(0, 1, 2), Some(0L)),
      (Seq(7), Some(7L)),
      (Seq(0, 1, 3, 4), Some(3L)),
      (Seq(0, 2, 3, 9), Some(9L)),
      (Seq(), None)
    )
    forAll(cases) { (versions, oldest) =>
      val files = versions.map(version => LogFile(LogDirectory.Root, f"$version%020d.json", 1, 0))
      assert(VacuumSource.oldestOf(CommitTimes.of(files.iterator)) == oldest)
    }
  }
}
