package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.compact.{CodecFindings, DataFile, Layout, OptimizePlan, OptimizeSettings}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** OPTIMIZE ... ZORDER BY. */
private[optimize] final class ZOrderLayout(override protected val table: DeltaHandle, layout: Layout.ZOrder)
    extends AlongCurve(table, layout.columns, layout.columns, full = false)
    with OwnOrder {

  override protected val tags: OrderTags =
    new OrderTags(table, DataFile.ZOrderTag, layout.columns, descending = Nil)

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan = plan(layout, layout.columns, layout.full, selected, settings, codecs)

  override def operation(predicate: Seq[Expression], isAuto: Boolean): Operation =
    DeltaApi.current.optimizeOperation(predicate, layout.columns, isAuto, None, false)

  override def isZOrder: Boolean = true

  override def marked(targetFileSize: Long): AddFile => AddFile =
    super.marked(targetFileSize).andThen(tags.newCube())
}
