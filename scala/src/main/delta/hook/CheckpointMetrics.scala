package org.apache.spark.sql.delta.upkeep.hook

import com.codahale.metrics.{Counter, Gauge, MetricRegistry, Timer}

import org.apache.spark.metrics.source.Source

/** Counters of the checkpoints after commits, for Spark's metrics system. */
private[upkeep] final class CheckpointMetrics(depth: () => Int) extends Source {

  override val sourceName: String = "deltaUpkeep"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private def counter(name: String): Counter = metricRegistry.counter(s"checkpoint.$name")

  val due: Counter = counter("due")
  val written: Counter = counter("written")

  /** Existed already, or left out after failures. */
  val skipped: Counter = counter("skipped")
  val failed: Counter = counter("failed")

  /** Total size of the checkpoint files. */
  val bytes: Counter = counter("bytes")
  val seconds: Timer = metricRegistry.timer("checkpoint.seconds")
  metricRegistry.register("checkpoint.queueDepth", new Gauge[Int] { override def getValue: Int = depth() })
}
