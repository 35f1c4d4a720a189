package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.{LogDirectory, LogFile}
import io.deltaupkeep.log.LogFiles._
import io.deltaupkeep.log.SidecarReferences.Named
import io.deltaupkeep.plan.cleanup.Histories.{History, histories}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import scala.util.Random

/** Rules of the planner that hold for every log. */
class CleanupPlannerProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  private def planned(history: History): CleanupPlan = CleanupPlanner.plan(history.input(history.files))

  private def paths(files: Seq[LogFile]): Set[String] = files.map(_.path).toSet

  /** What is there after each number of deletions, as if the cleanup had stopped just then. */
  private def prefixes(history: History, plan: CleanupPlan): Seq[Set[String]] =
    plan.deletions.scanLeft(paths(history.files))((present, file) => present - file.path)

  private def isCheckpoint(file: LogFile): Boolean =
    file.name.contains(".checkpoint") && file.directory == LogDirectory.Root

  test("stopping after any number of deletions loses no version from the cutoff on") {
    forAll(histories) { history =>
      val plan = planned(history)
      val before = history.readable(paths(history.files))
      // The cutoff checkpoint is not newer than the cutoff commit: this covers all of retention, and more.
      val promised = before.filter(_ >= plan.cutoffCheckpoint.getOrElse(0L))
      assert(plan.cutoffCheckpoint.forall(checkpoint => history.cutoffCommit.exists(checkpoint <= _)))
      prefixes(history, plan).foreach(present => assert(promised.subsetOf(history.readable(present))))
    }
  }

  test("nor does stopping within a phase whose deletions came in any order") {
    forAll(histories, Gen.long) { (history, seed) =>
      val plan = planned(history)
      val all = paths(history.files)
      val promised = history.readable(all).filter(_ >= plan.cutoffCheckpoint.getOrElse(0L))
      val shuffled = plan.phases.flatMap(new Random(seed).shuffle(_))
      shuffled.scanLeft(all)((present, file) => present - file.path).foreach { present =>
        assert(promised.subsetOf(history.readable(present)))
        assertNoSidecarIsLost(history, present)
      }
    }
  }

  private def assertNoSidecarIsLost(history: History, present: Set[String]): Unit = {
    val all = paths(history.files)
    history.references.foreach {
      case (name, Named(sidecars))
          if present(name) && history.files.exists(f => f.name == name && f.sizeInBytes > 0) =>
        val lost = sidecars.map("_sidecars/" + _).intersect(all) -- present
        assert(lost.isEmpty, s"named by $name")
      case _ =>
    }
  }

  test("stopping after any number of deletions leaves the newest part of the expired history") {
    forAll(histories) { history =>
      prefixes(history, planned(history)).foreach { present =>
        val kept = history.versions.filter(version => present(f"$version%020d.json"))
        assert(history.versions.endsWith(kept))
      }
    }
  }

  test("no checkpoint ever names a sidecar that the cleanup took") {
    forAll(histories) { history =>
      prefixes(history, planned(history)).foreach(assertNoSidecarIsLost(history, _))
    }
  }

  test("the cutoff checkpoint is the newest that every reader can use, with its commit") {
    forAll(histories) { history =>
      val expected = history
        .usable(paths(history.files))
        .map(_.version)
        .filter(version => history.versions.contains(version) && history.cutoffCommit.exists(version <= _))
        // Delta may choose the one that cannot be read, and looks for an older version then.
        .filterNot(version => history.unreadable.exists(_.name.startsWith(f"$version%020d.")))
        .maxOption
      assert(planned(history).cutoffCheckpoint == expected)
    }
  }

  test("all expired history goes, and of the rest only what nobody can use") {
    forAll(histories) { history =>
      val plan = planned(history)
      val boundary = plan.cutoffCheckpoint.getOrElse(-1L)
      val gone = plan.deletions.toSet
      history.files.foreach { file =>
        val version = file.name.takeWhile(_.isDigit).toLongOption
        val isVersioned = file.directory == LogDirectory.Root && !file.name.contains("compacted") &&
          file.name != "0.u.json" && version.isDefined
        if (isVersioned && version.exists(_ < boundary)) assert(gone(file))
        else if (isVersioned && !isCheckpoint(file)) assert(!gone(file))
        else if (!isVersioned && gone(file)) assert(file.modificationTime < YoungFrom)
      }
      history
        .usable(paths(history.files))
        .filter(_.version >= boundary)
        .foreach(checkpoint => assert(checkpoint.files.forall(!gone(_))))
    }
  }

  test("a protected table loses no checkpoint from the cutoff on, unless all that is protected goes") {
    forAll(histories) { history =>
      val plan = planned(history)
      if (history.protection.exists(_ > plan.cutoffCheckpoint.getOrElse(0L)))
        plan.deletions.filter(isCheckpoint).foreach { file =>
          assert(plan.cutoffCheckpoint.exists(file.name.takeWhile(_.isDigit).toLong < _))
        }
    }
  }

  test("every file gets one verdict, and those to delete are the deletions") {
    forAll(histories) { history =>
      val plan = planned(history)
      assert(plan.verdicts.map(_.file.path).sorted == history.files.map(_.path).sorted)
      val toDelete = plan.verdicts.filter(_.verdict == Verdict.Delete).map(_.file)
      assert(plan.deletions.size == toDelete.size && plan.deletions.toSet == toDelete.toSet)
      assert(plan.isEmpty == toDelete.isEmpty)
    }
  }

  test("totals add up to all files and bytes") {
    forAll(histories) { history =>
      val plan = planned(history)
      assert(plan.totals.map(_.files).sum == history.files.size)
      assert(plan.totals.map(_.bytes).sum == history.files.map(_.sizeInBytes).sum)
      assert(plan.totals.map(_.reason).distinct.size == plan.totals.size)
      val deleted = plan.totals.filter(_.verdict == Verdict.Delete)
      assert(deleted.map(_.bytes).sum == plan.deletions.map(_.sizeInBytes).sum)
    }
  }

  test("a second cleanup finds nothing, and stands on the same checkpoint") {
    forAll(histories) { history =>
      val first = planned(history)
      val second = CleanupPlanner.plan(history.input(history.files.filterNot(first.deletions.toSet)))
      assert(second.isEmpty)
      assert(second.cutoffCheckpoint == first.cutoffCheckpoint)
      assert(second.oldestReadableVersion == first.oldestReadableVersion)
    }
  }

  test("a cleanup that stopped anywhere is finished by the next one") {
    forAll(histories, Gen.chooseNum(0, 100)) { (history, percent) =>
      val first = planned(history)
      val done = first.deletions.take(first.deletions.size * percent / 100).toSet
      val next = CleanupPlanner.plan(history.input(history.files.filterNot(done)))
      assert(next.deletions == first.deletions.filterNot(done))
    }
  }

  test("the oldest readable version is where the last run of readable versions starts") {
    forAll(histories) { history =>
      val plan = planned(history)
      val present = paths(history.files) -- paths(plan.deletions)
      val readable = history.readable(present)
      val run = history.versions.maxOption.toSeq.flatMap(last => (0L to last).reverse.takeWhile(readable))
      assert(plan.oldestReadableVersion == run.lastOption)
    }
  }

  test("the order of the listing does not matter") {
    forAll(histories, Gen.long) { (history, seed) =>
      val shuffled = CleanupPlanner.plan(history.input(new Random(seed).shuffle(history.files)))
      val plan = planned(history)
      assert(shuffled.verdicts == plan.verdicts)
      assert(shuffled.deletions == plan.deletions)
      assert(shuffled.totals == plan.totals)
    }
  }
}
