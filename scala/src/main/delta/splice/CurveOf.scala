package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.parquet.cut.{Curve, GatherOrder}

import org.apache.spark.sql.SparkSession

/**
 * The curve along which the rows of a table are ordered.
 *
 * @param keys columns by the parts of their physical names
 */
private[upkeep] final case class CurveOf(keys: Seq[Seq[String]], curve: Curve) {
  def through(outputs: Long): GatherOrder = GatherOrder(keys, curve, math.min(outputs, Int.MaxValue).toInt)
}

private[upkeep] object CurveOf {

  /** Most bytes of the files of a bin whose rows are put in order column by column. */
  def mostBytes(session: SparkSession): Long =
    session.sessionState.conf.getConf(UpkeepConf.OptimizeClusterBytes) match {
      case 0 => ofHeap(session)
      case bytes => bytes
    }

  /** A task takes three times as much, and an executor may run a task on each of its cores. */
  private def ofHeap(session: SparkSession): Long = {
    val context = session.sparkContext
    val (heap, cores) =
      if (context.isLocal) (Runtime.getRuntime.maxMemory, context.defaultParallelism)
      else (context.executorMemory.toLong << 20, context.getConf.getInt("spark.executor.cores", 1))
    heap / (5L * math.max(1, cores))
  }
}
