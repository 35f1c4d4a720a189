package io.deltaupkeep.checkpoint

import io.deltaupkeep.ByteText

/**
 * What has come since the last checkpoint of a table.
 *
 * @param bytes of commits
 * @param ageMs milliseconds since the last checkpoint, or since the first commit where there is none
 */
final case class SinceCheckpoint(bytes: Long, ageMs: Long)

/**
 * What makes a checkpoint due after a commit, beside Delta's own rule; 0 is never.
 *
 * @param commitBytes of commits since the last checkpoint
 * @param maxAgeMs    of the last checkpoint, milliseconds
 */
final case class CheckpointTriggers(commitBytes: Long, maxAgeMs: Long) {

  /**
   * Why a checkpoint is due, or None. Pure.
   *
   * @param byDelta whether Delta's rule says so: `delta.checkpointInterval` commits have come
   * @param owed    whether one that was due is not there: it failed, or its application ended before it
   */
  def reason(since: SinceCheckpoint, byDelta: Boolean, owed: Boolean): Option[String] =
    if (byDelta) Some("delta.checkpointInterval")
    else if (owed) Some("one that was due is missing")
    else if (commitBytes > 0 && since.bytes >= commitBytes)
      Some(s"commits of ${ByteText.of(since.bytes)} since the last one")
    else if (maxAgeMs > 0 && since.ageMs >= maxAgeMs)
      Some(s"the last one is ${since.ageMs / 1000} s old")
    else None
}
