package org.apache.spark.sql.delta.upkeep.repair

import java.util.concurrent.TimeUnit

import io.deltaupkeep.log.{CommitTimes, LogListing}

import org.apache.spark.sql.delta.actions.CommitInfo
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * A VACUUM that has begun and not ended. It may have chosen files that are to be brought back. Delta and Delta Upkeep
 * commit both, except on some stores.
 */
private[repair] final class OpenVacuum(table: DeltaHandle) {
  import OpenVacuum._

  /** The version of its beginning, if that is less than a day ago: one that was killed never ends. */
  def version: Option[Long] = {
    val log = LogListing.of(table.logPath.getFileSystem(table.hadoopConf), table.logPath)
    val commits = CommitTimes.of(log.iterator)
    val recent =
      (0 until commits.size).filter(commits.fileTime(_) >= table.now - MostMs).map(commits.version).toSet
    if (recent.isEmpty) None
    else
      DeltaApi.current.changes(table.snapshot.deltaLog, recent.min, table.table.catalogTable).foldLeft(
        Option.empty[Long]
      ) {
        case (open, (version, actions)) =>
          actions.collectFirst { case info: CommitInfo => info.operation } match {
            case Some("VACUUM START") if recent(version) => Some(version)
            case Some("VACUUM END") => None
            case _ => open
          }
      }
  }
}

private[repair] object OpenVacuum {
  private val MostMs = TimeUnit.DAYS.toMillis(1)

  def advice(version: Long): String =
    s"a VACUUM that began in version $version may be deleting files; run the statement again once it has ended, or " +
      "after a day if it was killed"
}
