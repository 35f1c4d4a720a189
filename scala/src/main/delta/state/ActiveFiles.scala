package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, SessionCopy}

/**
 * The files of a table with their statistics. Delta on Spark replays the log in queries, which take seconds
 * to plan and compile in a fresh session, so we replay it on the driver. Queries are used for logs that are
 * too large for the driver, and for checkpoints whose statistics are not in JSON.
 */
private[upkeep] object ActiveFiles {

  /**
   * The files that the predicate on partition columns selects.
   *
   * @param ofAll receives all files of the table, if they are read
   */
  def of(
      handle: DeltaHandle,
      predicate: Seq[Expression],
      ofAll: Seq[AddFile] => Unit = _ => ()
  ): Seq[AddFile] = {
    import org.apache.spark.sql.delta.implicits._
    val snapshot = handle.snapshot
    def selected(files: Dataset[AddFile]): Seq[AddFile] =
      DeltaLog.filterFileList(snapshot.metadata.partitionSchema, files.toDF(), predicate).as[AddFile]
        .collect().toSeq
    def queried = {
      val files = withFittingTasks(handle)(selected(snapshot.allFiles))
      if (predicate.isEmpty) ofAll(files)
      files
    }
    if (!isForDriver(handle)) queried
    else {
      val files = new FileReplay(handle).files()
      // If the checksum counts a different number of files, Delta's own replay decides.
      if (!snapshot.checksumOpt.forall(_.numFiles == files.size)) queried
      else {
        ofAll(files)
        if (predicate.isEmpty) files else selected(handle.session.createDataset(files))
      }
    }
  }

  private def isForDriver(handle: DeltaHandle): Boolean = {
    val snapshot = handle.snapshot
    val hasStatistics = snapshot.checkpointProvider.isEmpty ||
      DeltaConfigs.CHECKPOINT_WRITE_STATS_AS_JSON.fromMetaData(snapshot.metadata)
    logBytes(handle) <= MostBytesOnDriver && hasStatistics
  }

  /**
   * Delta replays the log in 50 tasks, whatever its size, and each task costs tens of milliseconds before it
   * reads a line. Here each task reads 8 MiB of the log.
   */
  private def withFittingTasks[T](handle: DeltaHandle)(body: => T): T = {
    val entry = DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS
    if (handle.session.sessionState.conf.getConf(entry).nonEmpty) body
    else {
      val tasks = math.max(1L, math.min(50L, logBytes(handle) / (8L << 20))).toInt
      SessionCopy.of(handle.session)(_.setConf(entry, Some(tasks))).withActive(body)
    }
  }

  private def logBytes(handle: DeltaHandle): Long = {
    val snapshot = handle.snapshot
    snapshot.logSegment.deltas.map(_.getLen).sum + snapshot.checkpointProvider.effectiveCheckpointSizeInBytes()
  }

  private val MostBytesOnDriver = 256L << 20
}
