package io.deltaupkeep.checkpoint

import io.deltaupkeep.Tables

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CheckpointDueSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("a checkpoint is due after an interval of commits, or when the cleanup waits for one") {
    val cases = Table(
      ("version", "newest checkpoint", "cleanup waits", "due"),
      (0L, None, false, false),
      (8L, None, false, false),
      (9L, None, false, true),
      (10L, Some(10L), false, false),
      (19L, Some(10L), false, false),
      (20L, Some(10L), false, true),
      (10L, Some(10L), true, false),
      (11L, Some(10L), true, true),
      (0L, None, true, true)
    )
    forAll(cases) { (version, newest, waits, due) =>
      val table = Tables.facts(version = version).copy(checkpointInterval = 10)
      assert(CheckpointDue.reason(table, newest, waits).nonEmpty == due)
    }
  }
}
