package org.apache.spark.sql.delta.upkeep.health

import io.deltaupkeep.FileTotal
import io.deltaupkeep.health.{LoadCost, NewestCheckpoint}

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.CheckpointInstance
import org.apache.spark.sql.delta.upkeep.read.CheckpointFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** What the log of a table says about its newest checkpoint. */
final class LogFacts(table: DeltaHandle) {

  private val snapshot = table.snapshot

  /** The checkpoint that Delta reads this version from, if any. */
  def newestCheckpoint: Option[NewestCheckpoint] = {
    val checkpoint = snapshot.checkpointProvider
    Option.when(!checkpoint.isEmpty) {
      val files = checkpoint.topLevelFiles
      val layout =
        if (files.size > 1) s"classic, in ${files.size} parts"
        else if (CheckpointInstance(files.head.getPath).format == CheckpointInstance.Format.V2) "v2"
        else "classic"
      NewestCheckpoint(checkpoint.version, layout, files.map(_.getModificationTime).max)
    }
  }

  /** What a reader without a cached snapshot loads. Reads the top-level file of a v2 checkpoint. */
  def loadCost: LoadCost = {
    def total(files: Seq[FileStatus]) = FileTotal.of(files.map(_.getLen))
    val checkpoint = snapshot.checkpointProvider
    val files =
      if (checkpoint.isEmpty) Nil else checkpoint.topLevelFiles ++ CheckpointFiles.withFileActions(checkpoint)
    LoadCost(total(files.distinct), total(snapshot.logSegment.deltas))
  }
}
