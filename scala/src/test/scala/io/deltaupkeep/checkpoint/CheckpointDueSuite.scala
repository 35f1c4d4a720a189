package io.deltaupkeep.checkpoint

import io.deltaupkeep.Tables

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CheckpointDueSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test(
    "a checkpoint is due after an interval, when the cleanup waits for one, or readers are not told of it"
  ) {
    val cases = Table(
      ("version", "newest checkpoint", "cleanup waits", "is named", "due"),
      (0L, None, false, false, false),
      (8L, None, false, false, false),
      (9L, None, false, false, true),
      (10L, Some(10L), false, true, false),
      (10L, Some(10L), false, false, true),
      (19L, Some(10L), false, true, false),
      (19L, Some(10L), false, false, true),
      (20L, Some(10L), false, true, true),
      (10L, Some(10L), true, true, false),
      (11L, Some(10L), true, true, true),
      (0L, None, true, false, true)
    )
    forAll(cases) { (version, newest, waits, isNamed, due) =>
      val table = Tables.facts(version = version).copy(checkpointInterval = 10)
      assert(CheckpointDue.reason(table, newest, waits, isNamed).nonEmpty == due)
    }
  }
}
