package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.{CodecFindings, DataFile, OptimizePlan, OptimizePlanner, OptimizeSettings}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** OPTIMIZE of a table without clustering. */
private[optimize] final class CompactLayout(table: DeltaHandle) extends KeptOrder(table) {

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan =
    OptimizePlanner.compact(selected.files, settings, needsRows, codecs).copy(considered =
      selected.considered
    )

  override def mayChoose(settings: OptimizeSettings): DataFile => Boolean =
    OptimizePlanner.mayCompact(settings)

  override def recompresses: Boolean = true

  override def needsActions: Boolean = false

  override def operation(predicate: Seq[Expression], isAuto: Boolean): Operation =
    DeltaApi.current.optimizeOperation(predicate, Nil, isAuto, None, false)
}
