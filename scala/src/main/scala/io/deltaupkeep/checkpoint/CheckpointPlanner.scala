package io.deltaupkeep.checkpoint

import io.deltaupkeep.{TableFacts, UpkeepErrors}
import io.deltaupkeep.cleanup.{CheckpointSet, LogFile, LogFileKind}

/** Decides what a checkpoint at the table's version must look like, and whether one is needed. Pure. */
object CheckpointPlanner {

  /** Actions in one sidecar where nobody says otherwise: Delta's own choice. */
  private val SidecarActions = 50000L

  /**
   * @param fileActions      adds and tombstones of this version
   * @param checkpointFiles  files of the log that belong to checkpoints of this version
   * @param base             what a v2 checkpoint can build on, or why on nothing
   * @throws UpkeepException `V2_CHECKPOINT_NOT_ENABLED`, `MULTI_PART_ON_V2_TABLE`, `FORMAT_NEEDS_V2`
   */
  def plan(
      table: TableFacts,
      request: CheckpointRequest,
      fileActions: => Long,
      checkpointFiles: Seq[LogFile],
      base: => Either[String, Base]
  ): CheckpointPlan = {
    val policy = request.policy.getOrElse(if (table.prefersV2Checkpoints) Policy.V2 else Policy.Classic)
    checkRequest(table, request, policy)
    val format = policy match {
      case Policy.Classic => TopLevelFormat.Parquet
      case Policy.V2 => request.format.getOrElse(TopLevelFormat.Json)
    }
    val partSize = policy match {
      case Policy.Classic => request.partSize
      case Policy.V2 => Some(request.partSize.getOrElse(SidecarActions))
    }
    def full(why: String): Build = {
      val actions = fileActions
      Build.Full(actions, partSize.fold(1)(parts(actions, _)), why)
    }
    val build = existing(checkpointFiles, table.version).find(_.policy == policy) match {
      case Some(found) => Build.Needless(found)
      case None if request.mode == Mode.Full => full("asked for")
      case None =>
        policy match {
          case Policy.Classic => full("this version builds only v2 checkpoints on others")
          case Policy.V2 => base.fold(full, incremental(_, partSize.getOrElse(SidecarActions)))
        }
    }
    val chosenBy = if (request.policy.nonEmpty) "asked for" else "the table's policy"
    CheckpointPlan(table.version, policy, format, partSize, build, chosenBy)
  }

  private def incremental(base: Base, partSize: Long): Build = {
    val sidecars = SidecarPlan.of(base, partSize)
    val written = base.changes + sidecars.replaced.map(_.actions).sum
    Build.Incremental(sidecars, base.changes, if (written == 0) 0 else parts(written, partSize))
  }

  private def checkRequest(table: TableFacts, request: CheckpointRequest, policy: Policy): Unit =
    policy match {
      case Policy.V2 if !table.supportsV2Checkpoints =>
        throw UpkeepErrors.v2CheckpointNotEnabled(table.name)
      case Policy.Classic if table.supportsV2Checkpoints && request.partSize.nonEmpty =>
        throw UpkeepErrors.multiPartOnV2Table(table.name)
      case Policy.Classic if request.format.contains(TopLevelFormat.Json) =>
        throw UpkeepErrors.formatNeedsV2(table.name, TopLevelFormat.Json.name)
      case _ =>
    }

  /** Parts of at most `size` actions: 100,001 actions in parts of 50,000 are 3. */
  private def parts(actions: Long, size: Long): Int = math.max(1, math.ceil(actions.toDouble / size)).toInt

  /** The complete checkpoints of one version: readers ignore sets with missing parts and empty files. */
  private def existing(files: Seq[LogFile], version: Long): Seq[ExistingCheckpoint] =
    CheckpointSet.allOf(files, Map.empty).filter(set => set.isComplete && set.version == version).map { set =>
      val bytes = set.files.map(_.sizeInBytes).sum
      set.files.head.kind match {
        case LogFileKind.V2Checkpoint(_, _, "json") =>
          ExistingCheckpoint(Policy.V2, TopLevelFormat.Json, 1, bytes)
        case _: LogFileKind.V2Checkpoint => ExistingCheckpoint(Policy.V2, TopLevelFormat.Parquet, 1, bytes)
        case _ => ExistingCheckpoint(Policy.Classic, TopLevelFormat.Parquet, set.files.size, bytes)
      }
    }
}
