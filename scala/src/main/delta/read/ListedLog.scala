package org.apache.spark.sql.delta.upkeep.read

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.delta.storage.LogStore
import org.apache.spark.sql.delta.util.FileNames

/** Listings of a part of a log. */
private[upkeep] object ListedLog {

  /**
   * The files of some versions, in order. A log compaction is listed by its first version and belongs to its
   * last one, so one that goes beyond `last` is not the end of the listing.
   */
  def between(
      store: LogStore,
      log: Path,
      conf: Configuration,
      first: Long,
      last: Long
  ): Iterator[FileStatus] =
    store
      .listFrom(FileNames.listingPrefix(log, first), conf)
      .takeWhile(file => listedAt(file).forall(_ <= last))
      .filter(file => FileNames.getFileVersionOpt(file.getPath).forall(_ <= last))

  /** 4 for `00000000000000000004.00000000000000000006.compacted.json`. */
  private def listedAt(file: FileStatus): Option[Long] =
    file.getPath.getName.takeWhile(_.isDigit).toLongOption
}
