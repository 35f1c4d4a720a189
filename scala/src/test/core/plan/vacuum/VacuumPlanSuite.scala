package io.deltaupkeep.plan.vacuum

import io.deltaupkeep.plan.cleanup.Verdict

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class VacuumPlanSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import VacuumReason._

  private val names =
    TableNames(NameSet.of(Iterator("kept", "both")), NameSet.of(Iterator("expired", "both")))

  test("the verdict on a file") {
    def of(path: String, time: Long, isDirectory: Boolean = false) =
      VacuumPlan.reason(FoundFile(path, 1, time, isDirectory), names, cutoff = 100)
    assert(of("kept", 1).isEmpty && of("both", 1).isEmpty)
    assert(of("expired", 99).contains(Expired) && of("expired", 100).contains(YoungRemoved))
    assert(of("orphan", 99).contains(Orphan) && of("orphan", 100).contains(Young))
    assert(of("empty", 99, isDirectory = true).contains(EmptyDirectory))
    assert(of("empty", 100, isDirectory = true).contains(Young))
  }

  private def settings(maxFiles: Long, maxBytes: Long) =
    VacuumSettings(None, None, maxFiles, maxBytes, threads = 1)

  private val verdicts =
    for {
      sizes <- Gen.listOf(Gen.choose(0L, 100L))
      times <- Gen.listOfN(sizes.size, Gen.choose(0L, 50L))
      reasons <- Gen.listOfN(sizes.size, Gen.oneOf(Expired, Orphan, Young))
    } yield sizes.lazyZip(times).lazyZip(reasons).toIndexedSeq.zipWithIndex.map {
      case ((size, time, reason), i) =>
        VacuumVerdict(FoundFile(s"f$i", size, time), reason)
    }

  test("files that are gone do not count, and no more are asked for than one run deletes") {
    val found = (0 until 5000).map(i => VacuumVerdict(FoundFile(s"f$i", 1, i.toLong), Expired))
    var asked = 0
    val limited = VacuumPlan.limited(found, settings(2, Long.MaxValue)) { some =>
      asked += some.size
      some.filter(_.file.modificationTime >= 1500)
    }
    assert(limited.filter(_.reason == Expired).map(_.file.path) == Seq("f1500", "f1501"))
    assert(limited.count(_.reason == Limit) == 3498 && asked == 2000)
  }

  test("limits hold, take the oldest, and leave no file out of sight") {
    forAll(verdicts, Gen.choose(1L, 20L), Gen.choose(1L, 500L)) { (found, maxFiles, maxBytes) =>
      val limited = VacuumPlan.limited(found, settings(maxFiles, maxBytes))(identity)
      assert(limited.map(_.file.path).sorted == found.map(_.file.path).sorted)
      val gone = limited.filter(_.reason.verdict == Verdict.Delete)
      val left = limited.filter(_.reason == Limit)
      assert(gone.size <= maxFiles && (gone.size == 1 || gone.map(_.file.sizeInBytes).sum <= maxBytes))
      assert(gone.nonEmpty || !found.exists(_.reason.verdict == Verdict.Delete))
      for (
        last <- gone.map(_.file.modificationTime).maxOption;
        first <- left.map(_.file.modificationTime).minOption
      )
        assert(last <= first)
      assert(limited.count(_.reason == Young) == found.count(_.reason == Young))
      assert(VacuumPlan.limited(found, settings(Long.MaxValue, Long.MaxValue))(identity) == found)
    }
  }

  test("what a commit names meanwhile stays") {
    val plan = VacuumPlan(
      0,
      VacuumSource(VacuumMode.Full, "", None),
      IndexedSeq("a", "b").map(path => VacuumVerdict(FoundFile(path, 1, 0), Expired)),
      named = 0,
      directories = 1,
      until = None
    )
    assert(plan.without(file => Option.when(Set("b", "c")(file))(VacuumReason.NamedMeanwhile)).deletions.map(
      _.path
    ) == Seq("a"))
  }

  test("a version is remembered only if nothing that it removed is left") {
    def until(mode: VacuumMode, verdicts: VacuumVerdict*): Option[Long] =
      VacuumPlan(0, VacuumSource(mode, "", None), verdicts.toIndexedSeq, 0, 1, until = Some(9)).seenUntil
    def of(reason: VacuumReason, removedBy: Option[Long] = None) =
      VacuumVerdict(FoundFile("a", 1, 0, removedBy = removedBy), reason)
    import VacuumMode.{Full, Log}
    assert(until(Log).contains(9L) && until(Full).contains(9L))
    assert(until(Log, of(Expired, Some(3)), of(Limit, Some(7)), of(Limit, Some(5))).contains(4L))
    assert(until(Log, of(Limit, Some(0))).isEmpty)
    assert(until(Full, of(Limit)).isEmpty && until(Full, of(YoungRemoved)).isEmpty)
    assert(until(Full, of(Orphan), of(Young)).contains(9L))
  }

  test("a set of names has its names") {
    forAll { (some: Set[String], others: Set[String]) =>
      val set = NameSet.of(some.iterator)
      assert(some.forall(set.contains) && (others -- some).forall(!set.contains(_)))
    }
  }
}
