package io.deltaupkeep.plan.checkpoint

import io.deltaupkeep.CountText
import io.deltaupkeep.log.ReplayPlace

/** The layout of a checkpoint (protocol, 'Checkpoints'). */
sealed abstract class Policy(val name: String) extends Serializable

object Policy {

  /** One Parquet file, or several parts of it, with every action. */
  case object Classic extends Policy("classic")

  /** A top-level file that names sidecars with the file actions. */
  case object V2 extends Policy("v2")
}

/** The format of the top-level file: a classic checkpoint is always Parquet. */
sealed abstract class TopLevelFormat(val name: String) extends Serializable

object TopLevelFormat {
  case object Parquet extends TopLevelFormat("parquet")
  case object Json extends TopLevelFormat("json")
}

/**
 * How the checkpoint is built.
 *
 * @param mode of the result row
 */
sealed abstract class Build(val mode: String) extends Serializable {

  /** Approximate number of adds and tombstones. */
  def fileActions: Option[Long]

  /** Files with file actions: parts of a classic checkpoint, sidecars of a v2 one. */
  def parts: Int

  /** Whether a Spark job writes them. */
  def isJob: Boolean = false

  def reason: String
}

object Build {

  /**
   * A complete checkpoint of this version and policy exists.
   *
   * @param isNamed whether `_last_checkpoint` names it, or a newer one
   */
  final case class NotNeeded(existing: ExistingCheckpoint, isNamed: Boolean) extends Build("none") {
    override def fileActions: Option[Long] = None
    override def parts: Int = existing.parts
    override def reason: String =
      s"a complete ${existing.policy.name} checkpoint of this version exists" +
        (if (isNamed) "" else "; _last_checkpoint did not name it, and is rewritten")
  }

  /**
   * From the whole state of the table.
   *
   * @param actions      approximate: nothing is replayed for the plan
   * @param newFragments to write
   */
  final case class Full(actions: Long, parts: Int, newFragments: Int, replay: ReplayPlace, why: String)
      extends Build("full") {
    override def fileActions: Option[Long] = Some(actions)
    override def isJob: Boolean = replay != ReplayPlace.OnDriver
    override def reason: String = s"built in full from the table's state: $why; replayed ${replay.reason}"
  }

  /**
   * From the last checkpoint and the commits since.
   *
   * @param newFragments to write
   */
  final case class Incremental(policy: Policy, fragments: FragmentPlan, changes: Long, newFragments: Int)
      extends Build("incremental") {
    override def fileActions: Option[Long] = Some(fragments.all.map(_.actions).sum + changes)
    override def parts: Int = policy match {
      case Policy.Classic => 1
      case Policy.V2 => fragments.kept.size + newFragments
    }
    override def reason: String = {
      val kind = policy match {
        case Policy.Classic => "row group"
        case Policy.V2 => "sidecar"
      }
      s"built on the last one: ${CountText.of(changes, "change")}, " +
        s"${fragments.kept.size} of ${CountText.of(fragments.all.size, kind)} kept"
    }
  }
}

/** The checkpoint to write, or the one that makes writing unnecessary. */
final case class CheckpointPlan(layout: CheckpointLayout, build: Build, damaged: Seq[DamagedCheckpoint]) {

  def version: Long = layout.version
  def policy: Policy = layout.policy
  def format: TopLevelFormat = existing.fold(layout.format)(_.format)

  /** Nothing to write. */
  def isEmpty: Boolean = existing.nonEmpty

  def existing: Option[ExistingCheckpoint] = build match {
    case Build.NotNeeded(existing, _) => Some(existing)
    case _ => None
  }

  /** Whether only `_last_checkpoint` has to be written. */
  def mendsPointer: Boolean = build match {
    case Build.NotNeeded(_, isNamed) => !isNamed
    case _ => false
  }

  def reason: String =
    if (isEmpty) build.reason
    else {
      val chosenBy = if (layout.isPolicyAsked) "asked for" else "the table's policy"
      s"${policy.name} is $chosenBy; ${build.reason}"
    }
}

object CheckpointPlan {

  /** Default number of actions in a sidecar or a row group: Delta's choice for sidecars. */
  val FragmentActions: Long = 50000L
}

/**
 * A checkpoint of the version that readers cannot use; it is deleted once the new one is published.
 *
 * @param files names in the log
 */
final case class DamagedCheckpoint(files: Seq[String], why: String)

/** A complete checkpoint in the log; `sizeInBytes` does not count sidecars. */
final case class ExistingCheckpoint(policy: Policy, format: TopLevelFormat, parts: Int, sizeInBytes: Long)
