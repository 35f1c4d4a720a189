package org.apache.spark.sql.delta.upkeep.vacuum

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import java.util.function.BinaryOperator

import scala.jdk.CollectionConverters._

import io.deltaupkeep.log.CommitTimes
import io.deltaupkeep.plan.vacuum.FoundFile

/**
 * The files that commits removed before the cutoff: data files, deletion vectors, and files of the change data feed.
 *
 * @param cutoff milliseconds since the epoch
 * @param latest later removals have a wrong time
 */
private[vacuum] final class FilesInLog(
    changes: CommitChanges,
    names: FileNames,
    commits: CommitTimes,
    cutoff: Long,
    latest: Long
) {
  import FilesInLog._

  private val found = new ConcurrentHashMap[String, FoundFile]
  private lazy val times = (0 until commits.size).map(i => commits.version(i) -> commits.fileTime(i)).toMap
  private val skipped = new AtomicLong(Long.MaxValue)

  /**
   * The first version with a removal that is stamped after the cutoff, although its commit is older. A wrong time does not
   * count: later runs would read all commits again for years. A listing finds the file.
   */
  def firstSkipped: Option[Long] = Some(skipped.get).filter(_ < Long.MaxValue)

  /** Those of some versions; both ends are included. */
  def between(first: Long, last: Long): Iterable[FoundFile] = {
    changes.foreach(version => version >= first && version <= last)(take)
    changes.recorded(first, last)(take)
    found.values.asScala
  }

  private def take(change: FileChange): Unit =
    if (change.removedAt.exists(_ >= cutoff)) {
      if (change.removedAt.exists(_ <= latest))
        skipped.accumulateAndGet(change.version, (one, other) => math.min(one, other))
    } else {
      // Only its own commit names a file of the change data feed, and that has expired.
      val removedAt = change.removedAt.getOrElse(math.min(times.getOrElse(change.version, 0L), cutoff - 1))
      def add(name: Option[String], bytes: Long): Unit = name.foreach { path =>
        found.merge(path, FoundFile(path, bytes, removedAt, removedBy = Some(change.version)), newer)
      }
      add(names.own(change.path), change.sizeInBytes)
      change.vector.foreach(vector =>
        add(names.ownVector(vector.storage, vector.place), vector.sizeInBytes)
      )
    }
}

private object FilesInLog {

  private val newer: BinaryOperator[FoundFile] =
    (one, other) => if (one.removedBy.exists(version => other.removedBy.forall(_ <= version))) one else other
}
