package io.deltaupkeep.plan.repair

/**
 * A file of the log with a problem.
 *
 * @param path    absolute; of a checkpoint in parts, that of the first one
 * @param problem `missing`, `damaged` or `unknown`
 * @param found   what was found, as the beginning of a sentence
 * @param advice  why the action, and what to do next
 */
final case class LogFinding(
    kind: FileKind,
    path: String,
    problem: String,
    found: String,
    action: FsckAction,
    advice: String
) {
  def reason: String = s"$found; $advice"
}

object LogFinding {

  /** The action and the advice, if something can be done or if there is a reason against it. */
  def actionOf(mode: FsckMode, repair: Either[String, FsckAction]): (FsckAction, String) = repair match {
    case Left(why) => (FsckAction.Nothing, why)
    case Right(_) if mode == FsckMode.Check =>
      (FsckAction.Nothing, "FSCK repairs it in every mode but 'check'")
    case Right(FsckAction.Remove) =>
      (FsckAction.Remove, "it is deleted, because there is no checkpoint to name")
    case Right(action) => (action, "it is written anew")
  }
}
