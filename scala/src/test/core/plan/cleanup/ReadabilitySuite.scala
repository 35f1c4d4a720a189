package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.{CommitTimes, LogFiles}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class ReadabilitySuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("the oldest readable version is the start of the last run of versions that can all be read") {
    val none = Seq.empty[Long]
    forAll(Table(
      ("case", "commits", "checkpoints", "oldest"),
      ("from commit 0", 0L to 5L, none, Some(0L)),
      ("in any order", Seq(2L, 0L, 1L), none, Some(0L)),
      ("from the oldest checkpoint", 2L to 9L, Seq(6L, 3L), Some(3L)),
      ("from a checkpoint whose commit is gone", 4L to 9L, Seq(3L), Some(4L)),
      ("several checkpoints of one version", 3L to 9L, Seq(3L, 3L, 3L), Some(3L)),
      ("no checkpoint and no commit 0", 2L to 9L, none, None),
      ("a gap", Seq(0L, 1L, 2L, 4L, 5L), none, None),
      ("a gap before a checkpoint", Seq(0L, 1L, 3L, 4L, 5L), Seq(4L), Some(4L)),
      ("a gap after every checkpoint", Seq(0L, 1L, 3L, 4L, 5L), Seq(1L), None),
      ("a gap that a checkpoint fills", Seq(0L, 1L, 3L, 4L, 5L), Seq(2L), Some(3L)),
      ("a checkpoint newer than every commit", 3L to 5L, Seq(6L), None),
      ("only a checkpoint", none, Seq(6L), None),
      ("nothing", none, none, None)
    )) { (_, versions, checkpoints, oldest) =>
      val commits = CommitTimes.of(versions.iterator.map(LogFiles.commit(_)))
      assert(Readability.oldest(commits, checkpoints) == oldest)
    }
  }
}
