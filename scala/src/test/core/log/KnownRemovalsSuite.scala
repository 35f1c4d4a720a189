package io.deltaupkeep.log

import io.deltaupkeep.log.LogFiles._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class KnownRemovalsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def removals(commits: Seq[Long], records: Seq[(Long, Long)] = Nil): KnownRemovals =
    KnownRemovals.of((commits.map(commit(_)) ++ records.map((removedFiles _).tupled)).toVector)

  test("the oldest commit behind which none is missing") {
    forAll(Table(
      ("versions", "oldest"),
      (Seq(0L, 1L, 2L), Some(0L)),
      (Seq(7L), Some(7L)),
      (Seq(0L, 1L, 3L, 4L), Some(3L)),
      (Seq(0L, 2L, 3L, 9L), Some(9L)),
      (Seq(), None)
    )) { (versions, oldest) =>
      assert(removals(versions).oldestCommit == oldest)
      assert(removals(versions).oldest == oldest)
    }
  }

  test("records reach back from the oldest commit, unless one is missing") {
    forAll(Table(
      ("records", "oldest"),
      (Seq(0L -> 4L), 0L),
      (Seq(3L -> 4L, 0L -> 2L), 0L),
      (Seq(3L -> 4L, 0L -> 1L), 3L),
      (Seq(0L -> 3L), 5L),
      (Seq(2L -> 6L), 2L),
      (Seq(6L -> 7L), 5L)
    )) { (records, oldest) => assert(removals(5L to 9L, records).oldest.contains(oldest)) }
  }

  test("a version that is recorded need not be recorded again") {
    val some = removals(3L to 9L, Seq(0L -> 2L, 3L -> 5L, 7L -> 7L))
    assert(Seq(0L, 4L, 6L, 7L, 9L).map(some.unrecordedFrom) == Seq(6L, 6L, 6L, 8L, 9L))
  }
}
