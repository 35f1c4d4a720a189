package io.deltaupkeep.plan.checkpoint

import io.deltaupkeep.CheckpointLimits

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CheckpointDueSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def limits(bytes: Long = 0, ageMs: Long = 0) = CheckpointLimits(commits = 10, bytes, ageMs)
  private def since(commits: Long, bytes: Long = 0, ageMs: Long = 0) = SinceCheckpoint(commits, bytes, ageMs)

  test("a checkpoint is due after so many commits, bytes or seconds") {
    val tenCommits = "10 commits since the last checkpoint; delta.checkpointInterval is 10"
    val aKibibyte =
      "commits of 1.0 KiB since the last checkpoint; deltaUpkeep.checkpoint.commitBytes is 1.0 KiB"
    val aMinute = "the last checkpoint is 60 s old; deltaUpkeep.checkpoint.maxAge is 60 s"
    val cases = Table(
      ("limits", "since", "reason"),
      (limits(), since(9, Long.MaxValue, Long.MaxValue), None),
      (limits(), since(10), Some(tenCommits)),
      (limits(bytes = 1024), since(0, bytes = 1023), None),
      (limits(bytes = 1024), since(0, bytes = 1024), Some(aKibibyte)),
      (limits(bytes = 1024), since(10, bytes = 2048), Some(tenCommits)),
      (limits(ageMs = 60000), since(0, ageMs = 59999), None),
      (limits(ageMs = 60000), since(0, ageMs = 60000), Some(aMinute)),
      (limits(bytes = 1024, ageMs = 60000), since(1, 1024, 60000), Some(aKibibyte)),
      // A later checkpoint is on its way.
      (limits(), since(-3), None)
    )
    forAll(cases)((limits, since, reason) => assert(CheckpointDue.reason(limits, since) == reason))
  }

  test("MAINTAIN also writes one when the cleanup waits for it, or when readers are not told of the last") {
    val cases = Table(
      ("commits", "cleanup waits", "is named", "due"),
      (0L, false, true, false),
      (9L, false, true, false),
      (10L, false, true, true),
      (0L, true, true, false),
      (1L, true, true, true),
      (0L, false, false, true)
    )
    forAll(cases) { (commits, waits, isNamed, due) =>
      assert(CheckpointDue.reasonToMaintain(limits(), since(commits), waits, isNamed).nonEmpty == due)
    }
  }
}
