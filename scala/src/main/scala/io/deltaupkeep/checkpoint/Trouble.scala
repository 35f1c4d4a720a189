package io.deltaupkeep.checkpoint

/**
 * The failures of a table's checkpoints in a row. Waits double, from a second on; after five failures nothing
 * is tried for ten minutes, so that a table that cannot be checkpointed costs nearly nothing. Pure; times in
 * milliseconds.
 */
final case class Trouble(failures: Int, last: Long) {
  import Trouble._

  def again(now: Long): Trouble = Trouble(failures + 1, now)

  /** Whether another try is due. */
  def mayTry(now: Long): Boolean = now - last >= waitMs

  private def waitMs: Long =
    if (failures >= MaxFailures) BreakMs else FirstWaitMs << math.max(0, failures - 1)
}

object Trouble {
  private val FirstWaitMs = 1000L
  private val MaxFailures = 5
  private val BreakMs = 600000L

  val first: Long => Trouble = Trouble(1, _)
}
