package io.deltaupkeep.plan.analyze

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class StatsGapsSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import AnalyzeReason._

  private val gaps = new StatsGaps(Seq(Seq("id"), Seq("s", "x")))

  test("what statistics lack") {
    val counts = """"nullCount":{"id":0,"s":{"x":7,"y":1}}"""
    val cases = Table(
      ("statistics", "gap"),
      (null, Some(NoStatistics)),
      ("", Some(NoStatistics)),
      ("null", Some(NoStatistics)),
      ("[1]", Some(NoStatistics)),
      ("""{"numRecords":3""", Some(NoStatistics)),
      ("""{"minValues":{"id":}}""", Some(NoStatistics)),
      ("{}", Some(NoRows)),
      (s"""{"numRecords":"3",$counts}""", Some(NoRows)),
      (s"""{"numRecords":3.0,$counts}""", Some(NoRows)),
      (s"""{"numRecords":{"x":3},$counts}""", Some(NoRows)),
      (s"""{"minValues":{"numRecords":3},$counts}""", Some(NoRows)),
      ("""{"numRecords":0}""", None),
      ("""{"numRecords":3}""", Some(NoColumn)),
      ("""{"numRecords":3,"nullCount":null}""", Some(NoColumn)),
      ("""{"numRecords":3,"nullCount":{"id":0,"s":3}}""", Some(NoColumn)),
      ("""{"numRecords":3,"nullCount":{"id":0,"s":{"x":null}}}""", Some(NoColumn)),
      (s"""{$counts,"minValues":{"id":[1,{"a":2}]},"numRecords":3}""", None),
      (s"""{"numRecords":3,$counts,"tightBounds":true}""", None)
    )
    forAll(cases)((statistics, gap) => assert(gaps.of(statistics) == gap))
  }
}
