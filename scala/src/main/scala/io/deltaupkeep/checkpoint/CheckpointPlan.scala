package io.deltaupkeep.checkpoint

import io.deltaupkeep.{OptionEntry, Options}

/** The layout of a checkpoint (protocol, 'Checkpoints'). */
sealed abstract class Policy(val name: String)

object Policy {

  /** One Parquet file, or several parts of it, with every action. */
  case object Classic extends Policy("classic")

  /** A top-level file that names sidecars with the file actions. */
  case object V2 extends Policy("v2")
}

/** The format of the top-level file: a classic checkpoint is always Parquet. */
sealed abstract class TopLevelFormat(val name: String)

object TopLevelFormat {
  case object Parquet extends TopLevelFormat("parquet")
  case object Json extends TopLevelFormat("json")
}

/** Whether a checkpoint may build on the last one. */
sealed abstract class Mode(val name: String)

object Mode {

  /** The cheapest way that gives the same state. */
  case object Auto extends Mode("auto")

  /** From the whole state of the table. */
  case object Full extends Mode("full")
}

/** What the user asked for; what is not said follows the table. */
final case class CheckpointRequest(
    policy: Option[Policy],
    format: Option[TopLevelFormat],
    partSize: Option[Long],
    mode: Mode
)

object CheckpointRequest {
  val PolicyOption: OptionEntry[Policy] = OptionEntry.oneOf[Policy](
    "policy",
    "Layout of the checkpoint. Default: the table property delta.checkpointPolicy (classic)."
  )("classic" -> Policy.Classic, "v2" -> Policy.V2)
  val FormatOption: OptionEntry[TopLevelFormat] = OptionEntry.oneOf[TopLevelFormat](
    "format",
    "Format of the top-level file of a v2 checkpoint. Default: json."
  )("parquet" -> TopLevelFormat.Parquet, "json" -> TopLevelFormat.Json)
  val PartSizeOption: OptionEntry[Long] = OptionEntry.positive(
    "partSize",
    "File actions in one part of a classic checkpoint or one sidecar of a v2 checkpoint. Default: one " +
      "part, and 50,000 for sidecars."
  )
  val ModeOption: OptionEntry[Mode] = OptionEntry.oneOf[Mode](
    "mode",
    "full builds the checkpoint from the whole state; auto takes the cheapest way, which in this version " +
      "is always full. Default: auto."
  )("auto" -> Mode.Auto, "full" -> Mode.Full)
  val entries: Seq[OptionEntry[_]] = Seq(PolicyOption, FormatOption, PartSizeOption, ModeOption)

  def apply(options: Options): CheckpointRequest = CheckpointRequest(
    options.get(PolicyOption),
    options.get(FormatOption),
    options.get(PartSizeOption),
    options.get(ModeOption).getOrElse(Mode.Auto)
  )
}

/**
 * The checkpoint to write, or the one that makes writing needless.
 *
 * @param fileActions adds and tombstones that it will hold
 * @param parts       files with file actions: parts of a classic checkpoint, sidecars of a v2 one
 * @param existing    a complete checkpoint of this version and policy, if there is one
 */
final case class CheckpointPlan(
    version: Long,
    policy: Policy,
    format: TopLevelFormat,
    partSize: Option[Long],
    fileActions: Long,
    parts: Int,
    existing: Option[ExistingCheckpoint],
    reason: String
) {

  /** Nothing to write. */
  def isEmpty: Boolean = existing.nonEmpty
}

/** A complete checkpoint in the log; `sizeInBytes` does not count sidecars. */
final case class ExistingCheckpoint(policy: Policy, format: TopLevelFormat, parts: Int, sizeInBytes: Long)
