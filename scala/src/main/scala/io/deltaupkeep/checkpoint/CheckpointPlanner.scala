package io.deltaupkeep.checkpoint

import io.deltaupkeep.{TableFacts, UpkeepErrors}
import io.deltaupkeep.log.{CheckpointSet, LogFile, LogFileKind}

/** Decides what a checkpoint at the table's version must look like, and whether one is needed. Pure. */
object CheckpointPlanner {
  import CheckpointPlan.FragmentActions

  /**
   * @param fileActions      adds and tombstones of this version, about
   * @param checkpointFiles  files of the log that belong to checkpoints of this version
   * @param damage           why readers cannot use a checkpoint of these files, if so
   * @param pointer          the version that `_last_checkpoint` names
   * @param base             what a checkpoint of a policy can build on, or why on nothing
   * @param replay           where the driver can replay the whole log, or why a job has to
   * @throws UpkeepException `V2_CHECKPOINT_NOT_ENABLED`, `MULTI_PART_ON_V2_TABLE`, `FORMAT_NEEDS_V2`
   */
  def plan(
      table: TableFacts,
      request: CheckpointRequest,
      fileActions: => Long,
      checkpointFiles: Seq[LogFile],
      damage: Seq[LogFile] => Option[String],
      pointer: => Option[Long],
      base: Policy => Either[String, Base],
      replay: => Replay
  ): CheckpointPlan = {
    val policy = request.policy.getOrElse(if (table.prefersV2Checkpoints) Policy.V2 else Policy.Classic)
    checkRequest(table, request, policy)
    val format = policy match {
      case Policy.Classic => TopLevelFormat.Parquet
      case Policy.V2 => request.format.getOrElse(TopLevelFormat.Json)
    }
    val partSize = policy match {
      case Policy.Classic => request.partSize
      case Policy.V2 => Some(request.partSize.getOrElse(FragmentActions))
    }
    def full(why: String): Build = {
      val actions = fileActions
      val fileParts = partSize.fold(1)(parts(actions, _))
      Build.Full(
        actions,
        fileParts,
        newFragments = parts(actions, partSize.getOrElse(FragmentActions)),
        if (policy == Policy.Classic && fileParts > 1) Replay.AsJob("it spreads files over parts")
        else replay,
        why
      )
    }
    val there = complete(checkpointFiles, table.version)
    val damaged = there.flatMap(files => damage(files).map(DamagedCheckpoint(files.map(_.name), _)))
    val build = there.map(existing).find(_.policy == policy) match {
      // Readers may take it before any other of this version.
      case _ if damaged.nonEmpty => full(s"one of this version is damaged, and replaced: ${damaged.head.why}")
      case Some(found) => Build.NotNeeded(found, isNamed = pointer.exists(_ >= table.version))
      case None if request.mode == Mode.Full => full("asked for")
      case None if policy == Policy.Classic && request.partSize.nonEmpty =>
        full("parts that several drivers write fit together only so")
      case None => base(policy).fold(full, incremental(policy, _, partSize.getOrElse(FragmentActions)))
    }
    val chosenBy = if (request.policy.nonEmpty) "asked for" else "the table's policy"
    CheckpointPlan(table.version, policy, format, partSize, build, damaged, chosenBy)
  }

  private def incremental(policy: Policy, base: Base, partSize: Long): Build = {
    val fragments = FragmentPlan.of(base, partSize)
    val written = base.changes + fragments.replaced.map(_.actions).sum
    Build.Incremental(policy, fragments, base.changes, if (written == 0) 0 else parts(written, partSize))
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

  /** Files of the complete checkpoints of one version: readers ignore sets with missing parts and empty files. */
  private def complete(files: Seq[LogFile], version: Long): Seq[Seq[LogFile]] =
    CheckpointSet.allOf(files, Map.empty).filter(set => set.isComplete && set.version == version).map(_.files)

  private def existing(files: Seq[LogFile]): ExistingCheckpoint = {
    val bytes = files.map(_.sizeInBytes).sum
    files.head.kind match {
      case LogFileKind.V2Checkpoint(_, _, "json") =>
        ExistingCheckpoint(Policy.V2, TopLevelFormat.Json, 1, bytes)
      case _: LogFileKind.V2Checkpoint => ExistingCheckpoint(Policy.V2, TopLevelFormat.Parquet, 1, bytes)
      case _ => ExistingCheckpoint(Policy.Classic, TopLevelFormat.Parquet, files.size, bytes)
    }
  }
}
