package io.deltaupkeep.plan.checkpoint

import io.deltaupkeep.{TableFacts, UpkeepErrors}
import io.deltaupkeep.log.{CheckpointSet, LogFile, LogFileKind, ReplayPlace}

/**
 * The layout of a checkpoint, from the request, otherwise from the table's properties.
 *
 * @param partSize   largest number of file actions in a part or a sidecar
 * @param isPolicyAsked whether the request names the policy
 */
final case class CheckpointLayout(
    version: Long,
    policy: Policy,
    format: TopLevelFormat,
    partSize: Option[Long],
    mode: Mode,
    isPolicyAsked: Boolean
) {

  /** Largest number of file actions in a part, a sidecar or a row group. */
  def fragmentSize: Long = partSize.getOrElse(CheckpointPlan.FragmentActions)
}

/** The whole checkpoints of one version in the log, by their files, and those that readers cannot use. */
final case class FoundCheckpoints(complete: Seq[Seq[LogFile]], damaged: Seq[DamagedCheckpoint])

/**
 * The facts by which a full checkpoint is planned.
 *
 * @param why         why it cannot build on the last one
 * @param fileActions approximate number of adds and tombstones of its version
 * @param replay      where the whole log can be replayed
 */
final case class FullFacts(why: String, fileActions: Long, replay: ReplayPlace)

/** Decides what a checkpoint at the table's version must look like, and whether one is needed. Pure. */
object CheckpointPlanner {
  import CheckpointPlan.FragmentActions

  /** @throws io.deltaupkeep.UpkeepException `V2_CHECKPOINT_NOT_ENABLED`, `MULTI_PART_ON_V2_TABLE`, `FORMAT_NEEDS_V2` */
  def layout(table: TableFacts, request: CheckpointRequest): CheckpointLayout = {
    val policy = request.policy.getOrElse(if (table.prefersV2Checkpoints) Policy.V2 else Policy.Classic)
    checkRequest(table, request, policy)
    val (format, partSize) = policy match {
      case Policy.Classic => (TopLevelFormat.Parquet, request.partSize)
      case Policy.V2 =>
        (
          request.format.getOrElse(TopLevelFormat.Json),
          Some(request.partSize.getOrElse(FragmentActions))
        )
    }
    CheckpointLayout(table.version, policy, format, partSize, request.mode, request.policy.nonEmpty)
  }

  /** Files of the complete checkpoints of one version: readers ignore sets with missing parts and empty files. */
  def complete(files: Seq[LogFile], version: Long): Seq[Seq[LogFile]] =
    CheckpointSet.allOf(files, Map.empty).filter(set => set.isComplete && set.version == version).map(_.files)

  /** The checkpoint that makes another one unnecessary. None if readers may choose a damaged one instead. */
  def existing(layout: CheckpointLayout, found: FoundCheckpoints): Option[ExistingCheckpoint] =
    if (found.damaged.nonEmpty) None
    else found.complete.map(existing).find(_.policy == layout.policy)

  /** Why a checkpoint has to be built in full, whatever the last one is like, or None. */
  def whyFull(layout: CheckpointLayout, found: FoundCheckpoints): Option[String] =
    found.damaged.headOption.map(first =>
      s"the checkpoint of this version is damaged and is replaced: ${first.why}"
    )
      .orElse(Option.when(layout.mode == Mode.Full)("asked for"))
      .orElse(Option.when(layout.policy == Policy.Classic && layout.partSize.nonEmpty) {
        "a checkpoint in parts is always built from the whole state"
      })

  /** The plan that writes nothing; `pointer` is the version that `_last_checkpoint` names. */
  def notNeeded(
      layout: CheckpointLayout,
      existing: ExistingCheckpoint,
      pointer: Option[Long]
  ): CheckpointPlan =
    CheckpointPlan(layout, Build.NotNeeded(existing, isNamed = pointer.exists(_ >= layout.version)), Nil)

  /** The plan that writes a checkpoint in full, or on a base. */
  def toWrite(
      layout: CheckpointLayout,
      found: FoundCheckpoints,
      from: Either[FullFacts, Base]
  ): CheckpointPlan =
    CheckpointPlan(layout, from.fold(full(layout, _), incremental(layout, _)), found.damaged)

  private def full(layout: CheckpointLayout, facts: FullFacts): Build = {
    val fileParts = layout.partSize.fold(1)(parts(facts.fileActions, _))
    Build.Full(
      facts.fileActions,
      fileParts,
      newFragments = parts(facts.fileActions, layout.fragmentSize),
      if (layout.policy == Policy.Classic && fileParts > 1) ReplayPlace.AsJob("it spreads files over parts")
      else facts.replay,
      facts.why
    )
  }

  private def incremental(layout: CheckpointLayout, base: Base): Build = {
    val fragments = FragmentPlan.of(base, layout.fragmentSize)
    val written = base.changes + fragments.replaced.map(_.actions).sum
    val newFragments = if (written == 0) 0 else parts(written, layout.fragmentSize)
    Build.Incremental(layout.policy, fragments, base.changes, newFragments)
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
