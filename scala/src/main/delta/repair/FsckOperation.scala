package org.apache.spark.sql.delta.upkeep.repair

import io.deltaupkeep.plan.repair.FsckMode

import org.apache.spark.SparkContext
import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * An FSCK as the history shows it. Delta's type for operations is sealed, but not this one. The methods without
 * `override` are abstract in some versions of Delta, and others lack them.
 */
private[repair] final class FsckOperation(mode: FsckMode)
    extends DeltaOperations.OperationWithPredicates("FSCK", Nil) {

  override def parameters: Map[String, Any] = Map("mode" -> mode.name)

  override val operationMetrics: Set[String] = FsckOperation.Metrics.toSet

  /** Files are added as they were before. */
  def checkAddFileWithDeletionVectorStatsAreNotTightBounds: Boolean = false

  def isInPlaceFileMetadataUpdate: Option[Boolean] = Some(false)

  def canChangePartitionColumns: Boolean = false
}

private[repair] object FsckOperation {
  private val Metrics = Seq("numRemovedFiles", "numRestoredFiles")

  def metrics(context: SparkContext, removed: Int, restored: Int): Map[String, SQLMetric] =
    Metrics.zip(Seq(removed, restored)).map { case (name, value) =>
      val metric = SQLMetrics.createMetric(context, name)
      metric.set(value.toLong)
      name -> metric
    }.toMap
}
