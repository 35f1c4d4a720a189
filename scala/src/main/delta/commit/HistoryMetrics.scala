package org.apache.spark.sql.delta.upkeep.commit

import org.apache.spark.SparkContext
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.optimize.FileSizeStatsWithHistogram
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The numbers that DESCRIBE HISTORY shows, under the names that Delta gives them. */
private[upkeep] object HistoryMetrics {

  def ofOptimize(
      context: SparkContext,
      added: Seq[AddFile],
      removed: Seq[AddFile]
  ): Map[String, SQLMetric] = {
    val sizes = FileSizeStatsWithHistogram.create(added.map(_.size).sorted)
    val counts = Map(
      "numAddedFiles" -> added.size.toLong,
      "numAddedBytes" -> added.map(_.size).sum,
      "numRemovedFiles" -> removed.size.toLong,
      "numRemovedBytes" -> removed.map(_.size).sum,
      "numDeletionVectorsRemoved" -> removed.count(_.deletionVector != null).toLong
    )
    val histogram = sizes.map { s =>
      Map(
        "minFileSize" -> s.min,
        "p25FileSize" -> s.p25,
        "p50FileSize" -> s.p50,
        "p75FileSize" -> s.p75,
        "maxFileSize" -> s.max
      )
    }
    (counts ++ histogram.getOrElse(Map.empty)).map { case (name, value) =>
      val metric = SQLMetrics.createMetric(context, name)
      metric.set(value)
      name -> metric
    }
  }
}
