package io.deltaupkeep.plan.checkpoint

import io.deltaupkeep.{OptionEntry, Options}

/** Whether a checkpoint may build on the last one. */
sealed abstract class Mode

object Mode {

  /** Chooses the cheapest way that gives the same state. */
  case object Auto extends Mode

  /** From the whole state of the table. */
  case object Full extends Mode
}

/** What the user asked for; the rest follows the table's properties. */
final case class CheckpointRequest(
    policy: Option[Policy],
    format: Option[TopLevelFormat],
    partSize: Option[Long],
    mode: Mode
)

object CheckpointRequest {

  /** As the table's properties say. */
  val Default: CheckpointRequest = CheckpointRequest(None, None, None, Mode.Auto)

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
    "File actions per part of a classic checkpoint, or per sidecar of a v2 checkpoint. Default: a single " +
      "part, or 50,000 per sidecar."
  )
  val ModeOption: OptionEntry[Mode] = OptionEntry.oneOf[Mode](
    "mode",
    "'full' builds the checkpoint from the whole state of the table. 'auto' builds on the last checkpoint " +
      "if possible, so that the cost depends only on what has changed since. Default: auto."
  )("auto" -> Mode.Auto, "full" -> Mode.Full)
  val entries: Seq[OptionEntry[_]] = Seq(PolicyOption, FormatOption, PartSizeOption, ModeOption)

  def apply(options: Options): CheckpointRequest = CheckpointRequest(
    options.get(PolicyOption),
    options.get(FormatOption),
    options.get(PartSizeOption),
    options.get(ModeOption).getOrElse(Mode.Auto)
  )
}
