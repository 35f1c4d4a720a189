package io.deltaupkeep

/**
 * How much a table may change before its next checkpoint is due.
 *
 * @param commits since the last one (`delta.checkpointInterval`)
 * @param bytes   of those commits; 0 is no limit (`spark.deltaUpkeep.checkpoint.commitBytes`)
 * @param ageMs   of the last one, in milliseconds; 0 is no limit (`spark.deltaUpkeep.checkpoint.maxAge`)
 */
final case class CheckpointLimits(commits: Int, bytes: Long, ageMs: Long)
