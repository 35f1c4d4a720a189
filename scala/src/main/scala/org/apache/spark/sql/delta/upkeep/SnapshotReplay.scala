package org.apache.spark.sql.delta.upkeep

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.sources.DeltaSQLConf

/**
 * Delta replays the log in 50 tasks, whatever its size; each costs tens of milliseconds before it reads a
 * line, which for most tables is more than all else that OPTIMIZE does.
 */
private[upkeep] object SnapshotReplay {

  private val BytesPerTask = 8L << 20
  private val MostTasks = 50L

  /** Runs `body`, which reads the state of the snapshot, with a task for every 8 MiB of its log. */
  def sized[T](session: SparkSession, snapshot: Snapshot)(body: => T): T = {
    val conf = session.sessionState.conf
    val entry = DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS
    if (conf.getConf(entry).nonEmpty) body
    else {
      val segment = snapshot.logSegment
      val bytes = segment.deltas.map(_.getLen).sum + segment.checkpointProvider.topLevelFiles.map(_.getLen).sum
      val tasks = math.max(1L, math.min(MostTasks, bytes / BytesPerTask))
      conf.setConf(entry, Some(tasks.toInt))
      try body
      finally conf.unsetConf(entry)
    }
  }
}
