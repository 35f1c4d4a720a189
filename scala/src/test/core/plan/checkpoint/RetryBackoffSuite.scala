package io.deltaupkeep.plan.checkpoint

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class RetryBackoffSuite extends AnyFunSuite with TableDrivenPropertyChecks {

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
