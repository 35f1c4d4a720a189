package io.deltaupkeep.cleanup

import java.time.Instant

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class CutoffSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def at(text: String): Long = Instant.parse(text).toEpochMilli
  private val hour = 3600000L

  test("the cutoff is rounded down") {
    val now = at("2026-05-10T12:34:56.789Z")
    val cases = Table(
      ("retention", "granularity", "cutoff"),
      (48 * hour, Granularity.Day, at("2026-05-08T00:00:00Z")),
      (48 * hour, Granularity.Hour, at("2026-05-08T12:00:00Z")),
      (48 * hour, Granularity.Minute, at("2026-05-08T12:34:00Z")),
      (0L, Granularity.Minute, at("2026-05-10T12:34:00Z")),
      (now - at("2026-05-08T00:00:00Z"), Granularity.Day, at("2026-05-08T00:00:00Z")),
      (Long.MaxValue, Granularity.Day, 0L)
    )
    forAll(cases)((retention, granularity, cutoff) =>
      assert(Cutoff.timestamp(now, retention, granularity) == cutoff)
    )
  }

  private def commits(times: Long*): IndexedSeq[LogFile] =
    times.zipWithIndex.map { case (time, version) =>
      LogFile(LogDirectory.Root, f"$version%020d.json", 1, time)
    }.toIndexedSeq

  test("the newest commit that is not newer, by file times made to grow") {
    val cases = Table(
      ("what", "times", "cutoff", "commit"),
      ("no commits", Seq.empty[Long], 100L, None),
      ("all newer", Seq(10L, 20L), 9L, None),
      ("exactly at the cutoff", Seq(10L, 20L, 30L), 20L, Some(1L)),
      ("between", Seq(10L, 20L, 30L), 29L, Some(1L)),
      ("all older", Seq(10L, 20L, 30L), 99L, Some(2L)),
      ("a clock that ran ahead holds back those after it", Seq(10L, 50L, 20L, 30L), 40L, Some(0L)),
      ("the commit after it counts a millisecond more", Seq(10L, 50L, 20L, 30L), 51L, Some(2L)),
      ("equal times are a millisecond apart", Seq(10L, 10L, 10L), 11L, Some(1L))
    )
    forAll(cases)((_, times, cutoff, commit) =>
      assert(Cutoff.commit(commits(times: _*), cutoff, None) == commit)
    )
  }

  test("versions need not begin at zero") {
    assert(Cutoff.commit(commits(10, 20, 30).drop(1), 25, None).contains(1L))
  }

  test("a commit's own time counts where it has one") {
    val files = commits(1000, 1000, 1000, 1000, 1000)
    val own = Map(2L -> 20L, 3L -> 30L, 4L -> 40L)
    val cases = Table(
      ("cutoff", "commit"),
      (35L, Some(3L)),
      (40L, Some(4L)),
      (20L, Some(2L)),
      // Older than every own time: file times decide on the commits from before the feature.
      (15L, None),
      (5000L, Some(4L))
    )
    forAll(cases)((cutoff, commit) => assert(Cutoff.commit(files, cutoff, Some(own.get)) == commit))
  }

  test("own times are read a logarithm of times") {
    var reads = 0
    val ownTime = (version: Long) => { reads += 1; Some(version) }
    val files = commits(Seq.fill(10000)(0L): _*)
    assert(Cutoff.commit(files, 4321, Some(ownTime)).contains(4321L))
    assert(reads <= 16)
  }
}
