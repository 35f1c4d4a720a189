package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.OptimizeScope

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.delta.DeltaConfigs
import org.apache.spark.sql.delta.commands.optimize.OptimizeMetrics
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.StructType

/** What Delta's OPTIMIZE returns as `metrics`. */
object DeltaMetrics {

  /** Of the Delta on the class path. */
  def schema: StructType = Encoders.product[OptimizeMetrics].schema

  private[upkeep] def scopeOf(
      table: DeltaHandle,
      selected: SelectedFiles,
      layout: TableLayout
  ): OptimizeScope = {
    val metadata = table.snapshot.metadata
    val columns = metadata.schema.size
    OptimizeScope(
      table.path,
      table.session.sparkContext.defaultParallelism,
      columns,
      DeltaConfigs.DATA_SKIPPING_NUM_INDEXED_COLS.fromMetaData(metadata).min(columns),
      layout.isZOrder,
      layout.inputCubes(selected.adds)
    )
  }
}
