package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.parquet.cut.KeyOrder
import io.deltaupkeep.parquet.gather.GatherOrder

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSession

/**
 * The order of the rows of a table.
 *
 * @param keys columns by the parts of their physical names
 */
private[upkeep] final case class CurveOf(keys: Seq[Seq[String]], order: KeyOrder) {
  def through(outputs: Long): GatherOrder = GatherOrder(keys, order, math.min(outputs, Int.MaxValue).toInt)
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
    val heap = if (context.isLocal) Runtime.getRuntime.maxMemory else context.executorMemory.toLong << 20
    heap / (5L * math.max(1, coresOfExecutor(context)))
  }

  private def coresOfExecutor(context: SparkContext): Int = context.master match {
    case "local" => 1
    case Local("*") => Runtime.getRuntime.availableProcessors
    case Local(threads) => threads.toInt
    case master =>
      // A standalone executor takes all cores of its worker, which are not known here.
      val takesAll = master.startsWith("spark://") || master.startsWith("local-cluster")
      context.getConf.getInt("spark.executor.cores", if (takesAll) context.defaultParallelism else 1)
  }

  private val Local = """local\[\s*([0-9]+|\*)\s*(?:,.*)?\]""".r
}
