package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.plan.compact.{Bin, OptimizePlan}
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions, PhysicalSchema}
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/**
 * The rows tier: Delta reads the rows of a bin, without those that a deletion vector hides, and writes them
 * again, with row ids and row commit versions kept where the table tracks rows.
 */
private[upkeep] final class RowRewriter(handle: DeltaHandle, layout: RewriteLayout, plan: OptimizePlan) {
  private val transaction = new RowTransaction(handle)
  private val stored = new StoredRows(transaction.snapshot, handle.session, plan.compression)
  private val mergedStats = {
    val metadata = handle.snapshot.metadata
    new MergedStats(PhysicalSchema.of(metadata.dataSchema, metadata))
  }
  private val partitions = new Partitions(handle.snapshot.metadata)

  def rewrite(bin: Bin, files: Seq[AddFile]): Seq[AddFile] = {
    val rows = stored.of(files, Some("Optimize"))
    val arranged = layout.arranged(rows, plan.outputsOf(bin).toInt)
    val marked = layout.marked(plan.targetFileSize)
    transaction.writeFiles(arranged, None, isOptimize = true, Nil).map {
      case add: AddFile => marked(corrected(files.head, add))
      case other => throw new IllegalStateException(s"A rewrite adds files only, but Delta returned $other")
    }
  }

  /**
   * Delta's writer takes partition values from directory names, where one text stands for null, and some of the bounds
   * that it gives do not cover all values.
   */
  private def corrected(input: AddFile, add: AddFile): AddFile =
    NewFile.changed(add)(
      partitionValues = partitions.spelled(input),
      dataChange = false,
      stats = Option(add.stats).map(mergedStats.certain).orNull
    )
}
