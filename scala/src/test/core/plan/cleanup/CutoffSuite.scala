package io.deltaupkeep.plan.cleanup

import java.time.Instant

import io.deltaupkeep.log.CommitTimes
import io.deltaupkeep.log.LogFiles._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class CutoffSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  private def millis(time: String): Long = Instant.parse(time).toEpochMilli

  private def commits(times: Long*): CommitTimes =
    CommitTimes.of(times.zipWithIndex.map { case (time, version) => commit(version.toLong, time) }.iterator)

  test("the cutoff is now less the retention, rounded down in UTC") {
    forAll(Table(
      ("now", "hours", "granularity", "cutoff"),
      ("2026-05-10T12:34:56.789Z", 48L, Granularity.Day, "2026-05-08T00:00:00Z"),
      ("2026-05-10T12:34:56.789Z", 48L, Granularity.Hour, "2026-05-08T12:00:00Z"),
      ("2026-05-10T12:34:56.789Z", 48L, Granularity.Minute, "2026-05-08T12:34:00Z"),
      ("2026-05-10T12:34:56.789Z", 0L, Granularity.Minute, "2026-05-10T12:34:00Z"),
      ("2026-05-10T00:00:00Z", 24L, Granularity.Day, "2026-05-09T00:00:00Z"),
      ("2026-05-09T23:59:59.999Z", 24L, Granularity.Day, "2026-05-08T00:00:00Z"),
      ("2024-03-01T06:00:00Z", 24L, Granularity.Day, "2024-02-29T00:00:00Z"),
      ("2026-03-29T12:00:00Z", 24L, Granularity.Hour, "2026-03-28T12:00:00Z"),
      ("1970-01-03T12:00:00Z", 48L, Granularity.Day, "1970-01-01T00:00:00Z"),
      ("1970-01-03T00:00:00Z", 48L, Granularity.Day, "1970-01-01T00:00:00Z")
    )) { (now, hours, granularity, cutoff) =>
      assert(Cutoff.timestamp(millis(now), hours * Hour, granularity) == millis(cutoff))
    }
  }

  test("a retention from before the epoch retains every file, even one of time 0") {
    forAll(Table("granularity", Granularity.Day, Granularity.Hour, Granularity.Minute)) { granularity =>
      forAll(Table("retention", Now + 1, Now + 1000 * Day, Long.MaxValue)) { retention =>
        val cutoff = Cutoff.timestamp(Now, retention, granularity)
        assert(cutoff < 0 && cutoff >= -Day)
        assert(Cutoff.commit(commits(0, 0, 0), cutoff, None).isEmpty)
      }
    }
  }

  test("the cutoff commit is the newest that is not newer than the cutoff, by the time of its file") {
    forAll(Table(
      ("case", "times of commits 0, 1, ...", "cutoff", "commit"),
      ("no commit", Seq.empty[Long], 10L, None),
      ("all newer", Seq(11L, 12L), 10L, None),
      ("all older", Seq(1L, 2L, 3L), 10L, Some(2L)),
      ("exactly at the cutoff", Seq(5L, 10L, 15L), 10L, Some(1L)),
      ("a millisecond after it", Seq(5L, 11L, 15L), 10L, Some(0L)),
      ("equal times count as one after the other", Seq(10L, 10L, 10L), 11L, Some(1L)),
      ("a clock that went back: 20, 21, 22", Seq(20L, 5L, 6L), 19L, None),
      ("a clock that went back: 20, 21, 22", Seq(20L, 5L, 6L), 21L, Some(1L)),
      ("a clock that went back and caught up", Seq(20L, 5L, 30L), 29L, Some(1L)),
      ("a clock that ran ahead for one commit", Seq(1L, 100L, 3L, 4L), 50L, Some(0L))
    )) { (_, times, cutoff, expected) =>
      assert(Cutoff.commit(commits(times: _*), cutoff, None) == expected)
    }
  }

  test("versions need not start at 0 nor follow each other") {
    val files = CommitTimes.of(Iterator(commit(9, 20), commit(7, 10), commit(40, 30)))
    forAll(Table(
      ("cutoff", "by file time", "by own time"),
      (6L, None, None),
      (10L, Some(7L), Some(9L)),
      (29L, Some(9L), Some(9L)),
      (30L, Some(40L), Some(9L)),
      (40L, Some(40L), Some(40L))
    )) { (cutoff, byFileTime, byOwnTime) =>
      assert(Cutoff.commit(files, cutoff, None) == byFileTime)
      assert(Cutoff.commit(files, cutoff, Some(version => Some(version))) == byOwnTime)
    }
  }

  test("a commit's own time comes before the time of its file") {
    forAll(Table(
      ("case", "times of files", "own times", "cutoff", "commit"),
      ("copied files, all new", Seq(90L, 90L, 90L), Map(0L -> 1L, 1L -> 2L, 2L -> 3L), 2L, Some(1L)),
      ("copied files, all old", Seq(1L, 1L, 1L), Map(0L -> 70L, 1L -> 80L, 2L -> 90L), 50L, None),
      ("all older", Seq(9L, 9L, 9L), Map(0L -> 1L, 1L -> 2L, 2L -> 3L), 5L, Some(2L)),
      ("exactly at the cutoff", Seq(9L, 9L, 9L), Map(0L -> 1L, 1L -> 2L, 2L -> 3L), 3L, Some(2L)),
      ("enabled at 2, cutoff before it", Seq(1L, 2L, 3L, 4L), Map(2L -> 30L, 3L -> 40L), 1L, Some(0L)),
      ("enabled at 2, cutoff between", Seq(1L, 2L, 3L, 4L), Map(2L -> 30L, 3L -> 40L), 20L, Some(1L)),
      ("enabled at 2, cutoff after it", Seq(1L, 2L, 3L, 4L), Map(2L -> 30L, 3L -> 40L), 35L, Some(2L)),
      ("enabled at 2, older files are new", Seq(50L, 60L, 1L), Map(2L -> 30L), 20L, None),
      ("enabled, no commit yet", Seq(1L, 2L), Map.empty[Long, Long], 1L, Some(0L)),
      ("no commit", Seq.empty[Long], Map.empty[Long, Long], 1L, None)
    )) { (_, times, own, cutoff, expected) =>
      assert(Cutoff.commit(commits(times: _*), cutoff, Some(own.get)) == expected)
    }
  }

  test("own times are read for a logarithm of the commits") {
    val size = 100000
    val files = commits((0 until size).map(_.toLong): _*)
    forAll(Table("cutoff", -1L, 0L, 1L, 49999L, 77777L, 99999L, 200000L)) { cutoff =>
      forAll(Table("enabled from", 0L, 1L, 50000L, 99999L, 100000L)) { enabledFrom =>
        var calls = 0
        def ownTime(version: Long): Option[Long] = {
          calls += 1
          Option.when(version >= enabledFrom)(version)
        }
        val expected = Option.when(cutoff >= 0)(cutoff.min(size - 1L))
        assert(Cutoff.commit(files, cutoff, Some(ownTime)) == expected)
        // 2^17 > 100,000, and one to learn whether the commit that was found has a time of its own.
        assert(calls <= 18)
      }
    }
  }

  private val histories = for {
    versions <- Gen.listOf(Gen.chooseNum(0L, 40L)).map(_.distinct.sorted.toIndexedSeq)
    times <- Gen.listOfN(versions.size, Gen.chooseNum(-20L, 60L))
    enabledFrom <- Gen.chooseNum(0L, 45L)
    steps <- Gen.listOfN(versions.size, Gen.chooseNum(1L, 6L))
    cutoff <- Gen.chooseNum(-25L, 90L)
  } yield (versions.zip(times), enabledFrom, versions.zip(steps.scanLeft(-10L)(_ + _).tail).toMap, cutoff)

  test("halving finds what looking at every commit finds") {
    forAll(histories) { case (files, enabledFrom, clock, cutoff) =>
      def own(version: Long): Option[Long] = clock.get(version).filter(_ => version >= enabledFrom)
      var previous = Long.MinValue
      val found = files.filter { case (version, fileTime) =>
        previous = if (fileTime > previous) fileTime else previous + 1
        own(version).getOrElse(previous) <= cutoff
      }.lastOption.map { case (version, _) => version }
      val listed = files.map { case (version, time) => commit(version, time) }
      assert(Cutoff.commit(CommitTimes.of(listed.iterator), cutoff, Some(own)) == found)
    }
  }
}
