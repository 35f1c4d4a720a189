package io.deltaupkeep.plan.checkpoint

/**
 * The consecutive failures of a table's checkpoints. The wait before the next try starts at one second and
 * doubles. After five failures there is a pause of ten minutes, so that a table that cannot be checkpointed
 * costs almost nothing. Pure; times in milliseconds.
 */
final case class RetryBackoff(failures: Int, last: Long) {
  import RetryBackoff._

  def again(now: Long): RetryBackoff = RetryBackoff(failures + 1, now)

  /** Whether another try is due. */
  def mayTry(now: Long): Boolean = now - last >= waitMs

  private def waitMs: Long =
    if (failures >= MaxFailures) BreakMs else FirstWaitMs << math.max(0, failures - 1)
}

object RetryBackoff {
  private val FirstWaitMs = 1000L
  private val MaxFailures = 5
  private val BreakMs = 600000L

  val first: Long => RetryBackoff = RetryBackoff(1, _)
}
