package org.apache.spark.sql.delta.upkeep.repair

import io.deltaupkeep.log.{CommitTimes, LogListing}

import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** The commits of a table that are still in its log. The driver holds one of them at a time. */
private[repair] final class LogCommits(table: DeltaHandle) {

  private val snapshot = table.snapshot

  /** The version from which on no commit is missing; None if the log has no commit of the table's version. */
  lazy val oldest: Option[Long] = {
    val log = LogListing.of(table.logPath.getFileSystem(table.hadoopConf), table.logPath)
    CommitTimes.of(log.iterator).startOfUnbrokenRun.filter(_ <= snapshot.version)
  }

  /** All of them, or those from a version on, with their actions. */
  def from(first: Option[Long]): Iterator[(Long, Seq[Action])] =
    first.fold(Iterator.empty: Iterator[(Long, Seq[Action])]) {
      DeltaApi.current.changes(snapshot.deltaLog, _, table.table.catalogTable)
        .takeWhile { case (version, _) => version <= snapshot.version }
    }

  def all: Iterator[(Long, Seq[Action])] = from(oldest)

  /** Whether the log can still show the table at a version. */
  def canRead(version: Long): Boolean = {
    val checkpoint = Option.unless(snapshot.checkpointProvider.isEmpty)(snapshot.checkpointProvider.version)
    version >= 0 && (oldest.contains(0L) || checkpoint.exists(_ <= version))
  }
}
