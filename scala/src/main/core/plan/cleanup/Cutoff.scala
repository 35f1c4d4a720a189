package io.deltaupkeep.plan.cleanup

import java.time.Instant
import java.time.temporal.ChronoUnit

import io.deltaupkeep.log.CommitTimes

/** The unit that a cutoff is rounded down to, in UTC. */
sealed abstract class Granularity(private[deltaupkeep] val unit: ChronoUnit) extends Serializable

object Granularity {
  case object Day extends Granularity(ChronoUnit.DAYS)
  case object Hour extends Granularity(ChronoUnit.HOURS)
  case object Minute extends Granularity(ChronoUnit.MINUTES)
}

/**
 * Which commits have expired (protocol, 'Metadata Cleanup', step 1). Times in milliseconds since the epoch.
 */
object Cutoff {

  /** `now` less the retention, rounded down. At noon of 10 May with 48 hours and days: midnight of 8 May. */
  def timestamp(now: Long, retentionMs: Long, granularity: Granularity): Long = {
    // A retention longer than the time since the epoch retains everything, down to files of time 0.
    val oldest = math.max(-1L, now - retentionMs)
    Instant.ofEpochMilli(oldest).truncatedTo(granularity.unit).toEpochMilli
  }

  /**
   * The newest commit that is not newer than the cutoff: the version that a reader sees at that time.
   *
   * @param inCommitTimestamp the time that a commit itself carries; None if the commit is older than the
   *                          feature. Each call reads a commit, so it is called for O(log n) commits
   *                          only
   */
  def commit(
      commits: CommitTimes,
      cutoff: Long,
      inCommitTimestamp: Option[Long => Option[Long]]
  ): Option[Long] = {
    val byFileTime = lastIndexByFileTime(commits, cutoff)
    val last =
      inCommitTimestamp.fold(byFileTime)(ownTime => lastIndexByOwnTime(commits, cutoff, byFileTime, ownTime))
    Option.when(last >= 0)(commits.version(last))
  }

  /** By file times as time travel reads them: each at least a millisecond after the one before. */
  private def lastIndexByFileTime(commits: CommitTimes, cutoff: Long): Int = {
    var index = 0
    var time = Long.MinValue
    while (
      index < commits.size && {
        time = math.max(commits.fileTime(index), if (index == 0) Long.MinValue else time + 1)
        time <= cutoff
      }
    ) index += 1
    index - 1
  }

  /**
   * Commits that carry a time are the newest ones, and their times increase, so a binary search finds the
   * first that is newer than the cutoff. File times decide for the commits before them.
   */
  private def lastIndexByOwnTime(
      commits: CommitTimes,
      cutoff: Long,
      byFileTime: Int,
      ownTime: Long => Option[Long]
  ): Int = {
    def timeOf(index: Int): Option[Long] = ownTime(commits.version(index))
    val firstTooNew = firstIndex(commits.size)(index => timeOf(index).exists(_ > cutoff))
    val candidate = firstTooNew - 1
    if (candidate >= 0 && timeOf(candidate).isEmpty) math.min(candidate, byFileTime) else candidate
  }

  /** The first index below `size` that passes a test, or `size`. All indexes after it must pass too. */
  private def firstIndex(size: Int)(test: Int => Boolean): Int = {
    var low = 0
    var high = size
    while (low < high) {
      val middle = (low + high) >>> 1
      if (test(middle)) high = middle else low = middle + 1
    }
    low
  }
}
