package org.apache.spark.sql.delta.upkeep.metrics

import java.lang.ref.WeakReference
import java.util.Locale
import java.util.concurrent.ConcurrentHashMap

import com.codahale.metrics.MetricRegistry

import io.deltaupkeep.UpkeepException

import org.apache.spark.SparkContext
import org.apache.spark.metrics.source.Source
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Our counters and timers in Spark's metrics system, for one application. Names have kinds, outcomes and causes in
 * them, and never tables, so their number is fixed.
 */
private[upkeep] final class UpkeepMetrics(context: SparkContext) extends Source {

  private val application = new WeakReference(context)

  /** Ids of applications may be equal, as of those that `spark.app.id` names. */
  private def isOf(other: SparkContext): Boolean = application.get eq other

  override val sourceName: String = "deltaUpkeep"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val runs = new ConcurrentHashMap[String, RunMetrics]

  val rewrite = new RewriteMetrics(metricRegistry)
  val checkpoint = new CheckpointMetrics(metricRegistry)
  val afterCommit = new AfterCommitMetrics(metricRegistry)
  val cleanup = new DeletionMetrics(metricRegistry, "cleanup")
  val vacuum = new DeletionMetrics(metricRegistry, "vacuum")

  private def statement(name: String): RunMetrics = {
    // CLEANUP LOG becomes cleanupLog.
    val words = name.toLowerCase(Locale.ROOT).split(' ')
    runsOf(s"statement.${words.head}${words.tail.map(_.capitalize).mkString}") {
      case error: UpkeepException => metricRegistry.counter(s"error.${error.name}").inc()
      case _ => ()
    }
  }

  private def step(name: String): RunMetrics = runsOf(s"step.$name")(_ => ())

  private def runsOf(prefix: String)(failed: Throwable => Unit): RunMetrics =
    runs.computeIfAbsent(prefix, new RunMetrics(metricRegistry, _, failed))
}

object UpkeepMetrics {

  @volatile private var current = Option.empty[UpkeepMetrics]

  /** For statements of a kind, by the name that a user types. */
  def statement(session: SparkSession, name: String): RunMetrics = of(session.sparkContext).statement(name)

  /** For a step of MAINTAIN on a table. */
  def step(table: DeltaHandle, name: String): RunMetrics = of(table).step(name)

  private[upkeep] def of(table: DeltaHandle): UpkeepMetrics = of(table.session.sparkContext)

  /** The metrics of an application. The first to ask registers them. */
  private[upkeep] def of(context: SparkContext): UpkeepMetrics = {
    def known = current.filter(_.isOf(context))
    known.getOrElse(synchronized(known.getOrElse(register(context))))
  }

  private def register(context: SparkContext): UpkeepMetrics = {
    val made = new UpkeepMetrics(context)
    // Once its application has ended, nobody can see it.
    if (!context.isStopped) {
      Option(context.env).foreach(_.metricsSystem.registerSource(made))
      current = Some(made)
    }
    made
  }
}
