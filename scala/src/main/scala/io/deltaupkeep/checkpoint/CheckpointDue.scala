package io.deltaupkeep.checkpoint

import io.deltaupkeep.{CountText, TableFacts}

/** Whether a table is due for a checkpoint. Pure. */
object CheckpointDue {

  /** Commits that a reader has to replay: 11 at version 10 of a table without a checkpoint. */
  def commitsSince(table: TableFacts, newestCheckpoint: Option[Long]): Long =
    table.version - newestCheckpoint.getOrElse(-1L)

  /**
   * Why a checkpoint is due, or None.
   *
   * @param isNamed whether `_last_checkpoint` names the newest one
   */
  def reason(
      table: TableFacts,
      newestCheckpoint: Option[Long],
      cleanupNeedsOne: Boolean,
      isNamed: => Boolean
  ): Option[String] = {
    val commits = commitsSince(table, newestCheckpoint)
    if (commits >= table.checkpointInterval)
      Some(
        s"${CountText.of(commits, "commit")} since the last checkpoint; " +
          s"delta.checkpointInterval is ${table.checkpointInterval}"
      )
    else if (cleanupNeedsOne && commits > 0)
      Some("expired commits wait for a checkpoint to stand on")
    else if (newestCheckpoint.nonEmpty && !isNamed)
      Some("_last_checkpoint does not name the newest checkpoint")
    else None
  }
}
