package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.{CodecFindings, Layout, OptimizePlan, OptimizePlanner, OptimizeSettings}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.FilesToPurge

/** REORG TABLE ... APPLY (PURGE). */
private[optimize] final class PurgeLayout(table: DeltaHandle, layout: Layout.Purge) extends KeptOrder(table) {

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan = {
    val chosen = FilesToPurge.of(table.session, table.snapshot, selected.adds.toSeq).map(selected.ids.idOf)
    OptimizePlanner.purge(selected.files, chosen.toSet, settings, layout, needsRows)
  }

  override def needsActions: Boolean = true

  override def operation(predicate: Seq[Expression], isAuto: Boolean): DeltaOperations.Operation =
    DeltaOperations.Reorg(predicate)

  /** No hidden rows may be left, neither in these files nor in new ones. */
  override def mayStay: Boolean = false
  override def mayHide: Boolean = false
}
