package org.apache.spark.sql.delta.upkeep.repair

import java.util.concurrent.TimeUnit

import io.deltaupkeep.log.{CommitTimes, LogListing}

import org.apache.spark.sql.delta.actions.CommitInfo
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * VACUUMs that have begun and not ended. They may have chosen files that are to be brought back. Delta and Delta Upkeep
 * commit both, except on some stores. Delta commits the beginning after it has chosen the files.
 */
private[repair] final class OpenVacuum(table: DeltaHandle, oldestCommit: Option[Long]) {
  import OpenVacuum._

  /** The versions of the beginnings, the oldest first. */
  private var open = Vector.empty[Long]
  private var next: Option[Long] = firstOfLastDay

  /**
   * The version in which one of them began, if that is less than a day ago: one that was killed never ends. Asks the log
   * for new commits each time.
   */
  def version: Option[Long] = {
    next.foreach { first =>
      DeltaApi.current.changes(table.snapshot.deltaLog, first, table.table.catalogTable).foreach {
        case (version, actions) =>
          next = Some(version + 1)
          actions.collectFirst { case info: CommitInfo => info.operation } match {
            case Some("VACUUM START") => open :+= version
            case Some("VACUUM END") => open = open.dropRight(1)
            case _ => ()
          }
      }
    }
    open.headOption
  }

  /** By the clock of the store: that of the driver may be ahead. */
  private def firstOfLastDay: Option[Long] = oldestCommit.map { oldest =>
    val log = LogListing.of(table.logPath.getFileSystem(table.hadoopConf), table.logPath)
    val commits = CommitTimes.of(log.iterator).from(oldest)
    val newestTime = (0 until commits.size).map(commits.fileTime).foldLeft(0L)(math.max)
    val since = math.min(table.now, newestTime) - MostMs
    (0 until commits.size).reverseIterator.takeWhile(commits.fileTime(_) >= since).map(commits.version)
      .foldLeft(commits.newest.fold(oldest)(_ + 1))(math.min)
  }
}

private[repair] object OpenVacuum {
  private val MostMs = TimeUnit.DAYS.toMillis(1)

  def advice(version: Long): String =
    s"a VACUUM that began in version $version may be deleting files; run the statement again once it has ended, or " +
      "after a day if it was killed"
}
