package io.deltaupkeep.plan.checkpoint

import io.deltaupkeep.{ByteText, CheckpointLimits, CountText}

/**
 * What was added to a table since its last checkpoint.
 *
 * @param commits since that version. A table without a checkpoint counts from version 0, as in Delta, so that
 *                version 10 has 10.
 * @param bytes   of the commits that a reader replays
 * @param ageMs   milliseconds since the checkpoint, or since the first commit if there is none
 */
final case class SinceCheckpoint(commits: Long, bytes: Long, ageMs: Long)

/** When a checkpoint is due: after a commit, in MAINTAIN and in DESCRIBE HEALTH. Pure. */
object CheckpointDue {

  /** Why a checkpoint is due, or None. */
  def reason(limits: CheckpointLimits, since: SinceCheckpoint): Option[String] =
    if (since.commits >= limits.commits)
      Some(
        s"${CountText.of(since.commits, "commit")} since the last checkpoint; " +
          s"delta.checkpointInterval is ${limits.commits}"
      )
    else if (limits.bytes > 0 && since.bytes >= limits.bytes)
      Some(
        s"commits of ${ByteText.of(since.bytes)} since the last checkpoint; " +
          s"deltaUpkeep.checkpoint.commitBytes is ${ByteText.of(limits.bytes)}"
      )
    else if (limits.ageMs > 0 && since.ageMs >= limits.ageMs)
      Some(
        s"the last checkpoint is ${since.ageMs / 1000} s old; " +
          s"deltaUpkeep.checkpoint.maxAge is ${limits.ageMs / 1000} s"
      )
    else None

  /**
   * Why MAINTAIN writes a checkpoint, or None: also if the log needs one before a commit makes one due. What is
   * not needed to decide is not evaluated.
   *
   * @param cleanupNeedsOne whether expired commits cannot be deleted without a newer checkpoint
   * @param isNamed         whether `_last_checkpoint` names the newest checkpoint, if there is one
   */
  def reasonToMaintain(
      limits: CheckpointLimits,
      since: SinceCheckpoint,
      cleanupNeedsOne: => Boolean,
      isNamed: => Boolean
  ): Option[String] =
    reason(limits, since)
      .orElse(
        Option.when(since.commits > 0 && cleanupNeedsOne)(
          "expired commits cannot be deleted before there is a newer checkpoint"
        )
      )
      .orElse(Option.when(!isNamed)("_last_checkpoint does not name the newest checkpoint"))
}
