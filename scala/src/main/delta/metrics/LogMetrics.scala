package org.apache.spark.sql.delta.upkeep.metrics

import java.util.concurrent.TimeUnit

import com.codahale.metrics.{Counter, Gauge, Histogram, MetricRegistry}

import io.deltaupkeep.plan.checkpoint.CheckpointResult
import io.deltaupkeep.store.Deletions

/** All checkpoints of ours: of CHECKPOINT, of MAINTAIN, and after commits. */
private[upkeep] final class CheckpointMetrics(registry: MetricRegistry) {

  private def counter(name: String): Counter = registry.counter(s"checkpoint.$name")

  private val written = counter("written")
  private val exists = counter("exists")
  private val failed = counter("failed")
  private val bytes = counter("bytes")
  private val time = registry.timer("checkpoint.time")
  private val age: Histogram = registry.histogram("checkpoint.age")

  /** @param commits since the last checkpoint */
  def counted(commits: => Long)(work: => CheckpointResult): CheckpointResult = {
    val started = System.nanoTime()
    val result =
      try work
      catch { case thrown: Throwable => failed.inc(); throw thrown }
    if (result.isWritten) {
      time.update(System.nanoTime() - started, TimeUnit.NANOSECONDS)
      written.inc()
      bytes.inc(result.sizeInBytes.getOrElse(0L))
      age.update(commits)
    } else exists.inc()
    result
  }
}

/** Checkpoints that commits made due. */
private[upkeep] final class AfterCommitMetrics(registry: MetricRegistry) {

  private def counter(name: String): Counter = registry.counter(s"afterCommit.$name")

  val due: Counter = counter("due")
  val written: Counter = counter("written")

  /** Existed already, or left out after failures. */
  val skipped: Counter = counter("skipped")
  val failed: Counter = counter("failed")

  def showDepth(depth: () => Int): Unit = {
    registry.register("afterCommit.queueDepth", new Gauge[Int] { override def getValue: Int = depth() })
    ()
  }
}

/**
 * Files that were deleted.
 *
 * @param prefix `cleanup`: of logs, by CLEANUP LOG, by MAINTAIN, and after commits; `vacuum`: of tables
 */
private[upkeep] final class DeletionMetrics(registry: MetricRegistry, prefix: String) {
  private val files = registry.counter(s"$prefix.filesDeleted")
  private val bytes = registry.counter(s"$prefix.bytesDeleted")

  def deleted(some: Deletions): Unit = {
    files.inc(some.files)
    bytes.inc(some.bytes)
  }
}
