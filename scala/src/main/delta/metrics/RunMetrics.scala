package org.apache.spark.sql.delta.upkeep.metrics

import java.util.concurrent.TimeUnit

import com.codahale.metrics.MetricRegistry

/**
 * Counts and times the runs of a kind of statement or step.
 *
 * @param failed is called with what a run throws
 */
final class RunMetrics private[metrics] (
    registry: MetricRegistry,
    prefix: String,
    failed: Throwable => Unit
) {

  private val counters =
    Outcome.all.map(outcome => outcome -> registry.counter(s"$prefix.${outcome.name}")).toMap
  private val time = registry.timer(s"$prefix.time")

  /** Runs something, and counts its outcome, also if it throws. */
  def counted[T](outcomeOf: T => Outcome)(work: => T): T = {
    val started = System.nanoTime()
    def count(outcome: Outcome): Unit = {
      time.update(System.nanoTime() - started, TimeUnit.NANOSECONDS)
      counters(outcome).inc()
    }
    val result =
      try work
      catch {
        // Including interrupts.
        case thrown: Throwable =>
          count(Outcome.of(thrown))
          failed(thrown)
          throw thrown
      }
    count(outcomeOf(result))
    result
  }
}
