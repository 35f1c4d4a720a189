package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.plan.cluster.ClusterPlanner
import io.deltaupkeep.plan.compact.{
  ClusterGroup,
  CodecFindings,
  DataFile,
  Layout,
  OptimizePlan,
  OptimizePlanner,
  OptimizeSettings
}

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.{OptimizeTableCommand, OptimizeTableStrategy}
import org.apache.spark.sql.delta.upkeep.state.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaRefusals}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** OPTIMIZE ... ZORDER BY. */
private[optimize] final class ZOrderLayout(table: DeltaHandle, layout: Layout.ZOrder)
    extends AlongCurve(table, layout.columns) {

  private val tags = new ZOrderTags(table, layout.columns)

  override protected lazy val strategy: OptimizeTableStrategy = strategyOf(layout.columns, full = false)

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan = {
    checkColumns()
    def cubeOf(file: DataFile) = file.zOrderCube.filter(_ => tags.isOf(selected.actionOf(file)))
    val planner = new ClusterPlanner(settings, cubeBytes = Long.MaxValue, mostBytes = Long.MaxValue)
    val groups = selected.files.groupBy(_.partition).values.toSeq.flatMap { some =>
      if (layout.full) Seq(ClusterGroup.all(some, settings))
      else planner.groups(some, cubeOf)(rangesOf(selected))
    }
    OptimizePlanner.ordered(selected.files, groups, cubeOf(_).nonEmpty, settings, layout, needsRows, codecs)
  }

  override def operation(predicate: Seq[Expression], isAuto: Boolean): Operation =
    DeltaApi.current.optimizeOperation(predicate, layout.columns, isAuto, None, false)

  override def isZOrder: Boolean = true

  override def recompresses: Boolean = true

  override def marked(targetFileSize: Long): AddFile => AddFile =
    super.marked(targetFileSize).andThen(tags.newCube())

  /** Delta's own rules: a column needs statistics and a type with an order. */
  private def checkColumns(): Unit = {
    val attributes = layout.columns.map(UnresolvedAttribute.quotedString)
    val command = OptimizeTableCommand(Some(table.path), None, Nil)(attributes)
    attributes.foreach(column =>
      DeltaRefusals.ofZOrder(column.nameParts, table.name) {
        DeltaApi.current.checkZOrder(command, table.session, table.snapshot, Seq(column))
      }
    )
  }
}
