package io.deltaupkeep

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class PlatformCheckSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val ours = Platform.spark
  private val other = Platform.lines.filterNot(_ == ours).head
  private val delta = Platform.deltas.head

  test("a Spark of our line is right, and for another the artifact to use is named") {
    val cases = Table[String, Option[String]](
      ("Spark", "what to do"),
      (s"$ours.0", None),
      (s"$ours.7-amzn-1", None),
      (s"$ours-SNAPSHOT", None),
      (s"$other.1", Some(s"Use io.deltaupkeep:delta-upkeep_${other}_2.13.")),
      ("2.4.8", Some(s"Use Spark ${Platform.lines.mkString(", ")}.")),
      ("nightly", Some(s"Use Spark ${Platform.lines.mkString(", ")}."))
    )
    forAll(cases) { (version, fix) =>
      val told = fix.map(text =>
        s"${Platform.artifact} supports Spark $ours with Delta ${Platform.deltas
            .mkString(", ")}; this session runs Spark $version. $text"
      )
      assert(PlatformCheck.wrongSpark(version) == told)
    }
  }

  test("a Delta of our lines is right, and so may be one whose version cannot be read") {
    val cases = Table(
      ("Delta", "is right"),
      (s"$delta.0", true),
      (s"$delta.1-platform.3", true),
      ("nightly", true),
      ("9.9.0", false),
      (s"${delta}0.1", false),
      ("2.4.0", false)
    )
    forAll(cases)((version, isRight) => assert(PlatformCheck.wrongDelta(version).isEmpty == isRight))
    assert(PlatformCheck.wrongDelta("9.9.0").exists(_.endsWith("; this session uses Delta 9.9.0.")))
    assert(PlatformCheck.fix(s"$ours.0").startsWith("Use one of these versions of Delta Lake"))
  }
}
