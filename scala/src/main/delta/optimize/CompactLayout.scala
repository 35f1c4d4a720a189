package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.{CodecFindings, OptimizePlan, OptimizePlanner, OptimizeSettings}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** OPTIMIZE of a table without clustering. */
private[optimize] final class CompactLayout(table: DeltaHandle) extends KeptOrder(table) {

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan =
    OptimizePlanner.compact(selected.files, settings, needsRows, codecs)

  override def recompresses: Boolean = true

  override def operation(predicate: Seq[Expression], isAuto: Boolean): Operation =
    DeltaApi.current.optimizeOperation(predicate, Nil, isAuto, None, false)
}
