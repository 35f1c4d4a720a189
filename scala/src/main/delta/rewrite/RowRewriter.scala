package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.plan.compact.{Bin, Layout, OptimizePlan}
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.OptimizeTableStrategy
import org.apache.spark.sql.delta.skipping.MultiDimClustering
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions, PhysicalSchema}
import org.apache.spark.sql.delta.upkeep.versions.{DeltaApi, NewFile}

/**
 * The rows tier: Delta reads the rows of a bin, without those that a deletion vector hides, and writes them
 * again, with row ids and row commit versions kept where the table tracks rows.
 */
private[upkeep] final class RowRewriter(
    handle: DeltaHandle,
    strategy: OptimizeTableStrategy,
    plan: OptimizePlan
) {
  private val transaction = new RowTransaction(handle)
  private val stored = new StoredRows(transaction.snapshot, handle.session)
  private val mergedStats = {
    val metadata = handle.snapshot.metadata
    new MergedStats(PhysicalSchema.of(metadata.dataSchema, metadata))
  }
  private val partitions = new Partitions(handle.snapshot.metadata)

  def rewrite(bin: Bin, files: Seq[AddFile]): Seq[AddFile] = {
    val rows = stored.of(files, Some("Optimize"))
    val written = transaction.writeFiles(arranged(rows, bin), None, isOptimize = true, Nil)
    val binInfo = strategy.initNewBin
    written.map {
      case add: AddFile => tagged(strategy.tagAddFile(corrected(files.head, add), binInfo))
      case other => throw new IllegalStateException(s"A rewrite adds files only, but Delta returned $other")
    }
  }

  /**
   * Delta's writer takes partition values from the names of directories, where one text stands for null, and some of the
   * bounds that it gives do not hold all values.
   */
  private def corrected(input: AddFile, add: AddFile): AddFile =
    NewFile.changed(add)(
      partitionValues = partitions.spelled(input),
      stats = Option(add.stats).map(mergedStats.certain).orNull
    )

  private def arranged(rows: DataFrame, bin: Bin): DataFrame = plan.layout match {
    case Layout.Compact | Layout.Purge(_) => rows.coalesce(1)
    case Layout.ZOrder(columns) => clustered(rows, bin, columns)
    case Layout.Cluster(columns, _) => clustered(rows, bin, columns)
  }

  private def clustered(rows: DataFrame, bin: Bin, columns: Seq[String]): DataFrame =
    MultiDimClustering.cluster(rows, plan.outputsOf(bin).toInt, columns, strategy.curve)

  private def tagged(add: AddFile): AddFile = plan.layout match {
    case Layout.Compact | Layout.Purge(_) =>
      add.copyWithTags(Map(AddFile.Tags.OPTIMIZE_TARGET_SIZE.name -> plan.targetFileSize.toString))
    case _ => add
  }
}

private[upkeep] object RowRewriter {

  def strategyOf(session: SparkSession, snapshot: Snapshot, layout: Layout): OptimizeTableStrategy = {
    val (zOrderBy, full) = layout match {
      case Layout.Compact | Layout.Purge(_) => (Nil, false)
      case Layout.ZOrder(columns) => (columns, false)
      case Layout.Cluster(_, full) => (Nil, full)
    }
    OptimizeTableStrategy(session, snapshot, DeltaApi.current.optimizeContext("OPTIMIZE", full), zOrderBy)
  }
}
