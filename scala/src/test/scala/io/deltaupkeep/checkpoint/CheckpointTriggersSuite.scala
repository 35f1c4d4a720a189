package io.deltaupkeep.checkpoint

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CheckpointTriggersSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("what makes a checkpoint due after a commit") {
    val cases = Table(
      ("commitBytes", "maxAgeMs", "bytes", "ageMs", "by Delta", "owed", "reason"),
      (0L, 0L, Long.MaxValue, Long.MaxValue, false, false, None),
      (0L, 0L, 0L, 0L, true, false, Some("delta.checkpointInterval")),
      (0L, 0L, 0L, 0L, false, true, Some("one that was due is missing")),
      (0L, 0L, 0L, 0L, true, true, Some("delta.checkpointInterval")),
      (1024L, 0L, 1023L, 0L, false, false, None),
      (1024L, 0L, 1024L, 0L, false, false, Some("commits of 1.0 KiB since the last one")),
      (1024L, 0L, 2048L, 0L, true, false, Some("delta.checkpointInterval")),
      (0L, 60000L, 0L, 59999L, false, false, None),
      (0L, 60000L, 0L, 60000L, false, false, Some("the last one is 60 s old")),
      (1024L, 60000L, 1024L, 60000L, false, false, Some("commits of 1.0 KiB since the last one"))
    )
    forAll(cases) { (commitBytes, maxAgeMs, bytes, ageMs, byDelta, owed, reason) =>
      val triggers = CheckpointTriggers(commitBytes, maxAgeMs)
      assert(triggers.reason(SinceCheckpoint(bytes, ageMs), byDelta, owed) == reason)
    }
  }

  test("waits after failures double, and after five there is a long break") {
    val cases = Table(
      ("failures", "ms later", "may try"),
      (1, 999L, false),
      (1, 1000L, true),
      (2, 1999L, false),
      (2, 2000L, true),
      (4, 7999L, false),
      (4, 8000L, true),
      (5, 599999L, false),
      (5, 600000L, true),
      (500, 599999L, false),
      (500, 600000L, true)
    )
    forAll(cases) { (failures, later, may) =>
      val trouble = (1 until failures).foldLeft(RetryBackoff.first(50))((trouble, _) => trouble.again(50))
      assert(trouble.failures == failures && trouble.mayTry(50 + later) == may)
    }
  }
}
