package io.deltaupkeep.plan.checkpoint

/** What happened to a checkpoint. */
sealed abstract class CheckpointStatus(val name: String) extends Serializable

object CheckpointStatus {
  case object Written extends CheckpointStatus("written")

  /** There was a complete one. At most `_last_checkpoint` was rewritten. */
  case object Exists extends CheckpointStatus("exists")

  /** Would be written: a dry run. */
  case object Planned extends CheckpointStatus("planned")
}

/** What was written: numbers of the checkpoint on disk. */
final case class WrittenCheckpoint(numActions: Long, numAddFiles: Long, parts: Int, sizeInBytes: Long)

/**
 * The result row of CHECKPOINT.
 *
 * @param path        root of the table
 * @param version     of the table in the checkpoint
 * @param policy      `classic` or `v2`
 * @param format      of the top-level file, `parquet` or `json`
 * @param parts       parts of a classic checkpoint, sidecars of a v2 one
 * @param numActions  actions in the checkpoint; null if none was written
 * @param numAddFiles data files in the checkpoint; null if none was written
 * @param sizeInBytes size of its files, without the sidecars if it existed before; null in a dry run
 * @param mode        `full`: built from the whole state; `incremental`: built on the last checkpoint; `none`:
 *                    nothing was built
 * @param status      name of a [[CheckpointStatus]]
 */
final case class CheckpointResult(
    path: String,
    version: Long,
    policy: String,
    format: String,
    parts: Int,
    numActions: Option[Long],
    numAddFiles: Option[Long],
    sizeInBytes: Option[Long],
    mode: String,
    status: String,
    reason: String,
    durationMs: Long,
    dryRun: Boolean
) {
  def isWritten: Boolean = status == CheckpointStatus.Written.name
}

object CheckpointResult {

  def planned(path: String, plan: CheckpointPlan): CheckpointResult =
    result(
      path,
      plan,
      if (plan.isEmpty) CheckpointStatus.Exists else CheckpointStatus.Planned,
      durationMs = 0,
      dryRun = true
    )

  def exists(path: String, plan: CheckpointPlan): CheckpointResult =
    result(path, plan, CheckpointStatus.Exists, durationMs = 0, dryRun = false)

  def written(
      path: String,
      plan: CheckpointPlan,
      checkpoint: WrittenCheckpoint,
      durationMs: Long
  ): CheckpointResult =
    result(path, plan, CheckpointStatus.Written, durationMs, dryRun = false).copy(
      parts = checkpoint.parts,
      numActions = Some(checkpoint.numActions),
      numAddFiles = Some(checkpoint.numAddFiles),
      sizeInBytes = Some(checkpoint.sizeInBytes)
    )

  private def result(
      path: String,
      plan: CheckpointPlan,
      status: CheckpointStatus,
      durationMs: Long,
      dryRun: Boolean
  ): CheckpointResult =
    CheckpointResult(
      path,
      plan.version,
      plan.policy.name,
      plan.format.name,
      plan.build.parts,
      None,
      None,
      plan.existing.map(_.sizeInBytes),
      plan.build.mode,
      status.name,
      plan.reason,
      durationMs,
      dryRun
    )
}
