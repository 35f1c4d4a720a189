package org.apache.spark.sql.delta.upkeep.read

import io.deltaupkeep.plan.checkpoint.SinceCheckpoint

import org.apache.spark.sql.delta.LogSegment
import org.apache.spark.sql.delta.util.FileNames

/** The commits of a log since its newest checkpoint. Nothing is read: Delta has listed them. */
private[upkeep] object UncheckpointedCommits {

  /**
   * @param version   up to which commits count
   * @param submitted version of a checkpoint that was written or is queued, and that the log segment may not
   *                  have
   * @param now       milliseconds since the epoch
   */
  def checkpoint(segment: LogSegment, version: Long, submitted: Option[Long], now: Long): SinceCheckpoint = {
    val inLog = Option.unless(segment.checkpointProvider.isEmpty)(segment.checkpointProvider.version)
    val newest = (inLog ++ submitted).maxOption
    val commits = segment.deltas.filter { file =>
      val number = FileNames.getFileVersion(file.getPath)
      number <= version && newest.forall(number > _)
    }
    val written =
      if (newest == inLog) segment.checkpointProvider.topLevelFiles.map(_.getModificationTime).maxOption
      else None
    val start = written.orElse(commits.map(_.getModificationTime).minOption).getOrElse(now)
    SinceCheckpoint(version - newest.getOrElse(0L), commits.map(_.getLen).sum, now - start)
  }

  /** The number of commits since the newest checkpoint in the log that were written before some time. */
  def before(segment: LogSegment, time: Long): Int =
    segment.deltas.count(_.getModificationTime < time)
}
