package io.deltaupkeep.plan.checkpoint

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FragmentPlanSuite extends AnyFunSuite with TableDrivenPropertyChecks with ScalaCheckPropertyChecks {

  private def sidecars(actions: Long*): Seq[Fragment] =
    actions.zipWithIndex.map { case (n, i) => Fragment(s"s$i", None, n * 100, n, 0, isTouched = false) }

  private def kept(base: Base, partSize: Long = 100): Seq[Long] =
    FragmentPlan.of(base, partSize).kept.map(_.actions).sorted

  test("what joins and what stays") {
    val cases = Table(
      ("sidecars", "changes", "kept"),
      (Seq.empty[Long], 5L, Seq.empty[Long]),
      // Nothing is written, so nothing joins.
      (Seq(1L, 2L), 0L, Seq(1L, 2L)),
      (Seq(100L, 4L), 5L, Seq(100L)),
      (Seq(6L), 5L, Seq(6L)),
      // 5 and 5 make 10, which takes the next 10; 40 is more than 20.
      (Seq(5L, 10L, 40L), 5L, Seq(40L)),
      // Half full is full enough.
      (Seq(50L), 60L, Seq(50L)),
      (Seq(49L), 60L, Seq.empty[Long])
    )
    forAll(cases) { (actions, changes, expected) =>
      assert(kept(Base(sidecars(actions: _*), changes)) == expected)
    }
  }

  test("a touched sidecar is replaced, however large, and takes smaller ones along") {
    val base = sidecars(100, 30, 20).zip(Seq(true, false, false)).map { case (s, t) => s.copy(isTouched = t) }
    val plan = FragmentPlan.of(Base(base, 1), partSize = 1000)
    assert(plan.replaced.map(_.file).toSet == Set("s0", "s1", "s2") && plan.kept.isEmpty)
    val full = FragmentPlan.of(Base(base, 1), partSize = 50)
    assert(full.replaced.map(_.file).toSet == Set("s0", "s2") && full.kept.map(_.file).toSet == Set("s1"))
  }

  test("beside full ones, the number of sidecars grows with the logarithm of what they hold") {
    val partSize = 1L << 16
    forAll(Gen.listOfN(200, Gen.choose(1L, 2000L))) { changes =>
      var base = Seq.empty[Fragment]
      changes.zipWithIndex.foreach { case (n, i) =>
        val plan = FragmentPlan.of(Base(base, n), partSize)
        assert(plan.all.toSet == base.toSet && plan.all.size == base.size)
        val written = n + plan.replaced.map(_.actions).sum
        base = plan.kept :+ Fragment(s"v$i", None, written, written, 0, isTouched = false)
        val small = base.map(_.actions).filter(_ * 2 < partSize)
        assert(small.size <= 1 + math.log(partSize.toDouble) / math.log(2))
      }
      assert(base.map(_.actions).sum == changes.sum)
    }
  }
}
