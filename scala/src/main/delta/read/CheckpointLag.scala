package org.apache.spark.sql.delta.upkeep.read

import io.deltaupkeep.plan.checkpoint.SinceCheckpoint

import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** How far a table is ahead of the checkpoint that Delta reads this version from, if any. */
final class CheckpointLag(table: DeltaHandle) {

  private val snapshot = table.snapshot

  /** The changes since that checkpoint; `now` in milliseconds since the epoch. */
  def since(now: Long): SinceCheckpoint =
    UncheckpointedCommits.checkpoint(snapshot.logSegment, snapshot.version, submitted = None, now)

  /** Whether `_last_checkpoint` names that checkpoint or a newer one; true if there is no checkpoint. */
  def isNamed: Boolean = {
    val checkpoint = snapshot.checkpointProvider
    checkpoint.isEmpty || new CheckpointPointer(table).version.exists(_ >= checkpoint.version)
  }
}
