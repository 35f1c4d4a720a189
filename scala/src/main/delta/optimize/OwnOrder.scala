package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.UpkeepErrors
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
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaRefusals}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** An order of each partition that a statement or a property of the table asks for, and that our tags tell. */
private[optimize] trait OwnOrder extends Reordered {

  protected def table: DeltaHandle
  protected def tags: OrderTags

  /** @param full whether files that are in order are put in order again */
  protected def plan(
      layout: Layout,
      columns: Seq[String],
      full: Boolean,
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan = {
    checkColumns(columns)
    def cubeOf(file: DataFile) = file.cube.filter(_ => tags.isOf(selected.actionOf(file)))
    val planner = new ClusterPlanner(settings, cubeBytes = Long.MaxValue, mostBytes = Long.MaxValue)
    val groups = selected.files.groupBy(_.partition).values.toSeq.flatMap { some =>
      if (full) Seq(ClusterGroup.all(some, settings)) else planner.groups(some, cubeOf)(rangesOf(selected))
    }
    OptimizePlanner.ordered(selected.files, groups, cubeOf(_).nonEmpty, settings, layout, needsRows, codecs)
  }

  /** Delta's own rules for ZORDER BY: a column needs statistics. And values need an order. */
  private def checkColumns(columns: Seq[String]): Unit = {
    val attributes = columns.map(UnresolvedAttribute.quotedString)
    val command = OptimizeTableCommand(Some(table.path), None, Nil)(attributes)
    attributes.foreach(column =>
      DeltaRefusals.ofZOrder(column.nameParts, table.name) {
        DeltaApi.current.checkZOrder(command, table.session, table.snapshot, Seq(column))
      }
    )
    KeyColumn.named(table, columns).find(key => !RowOrdering.isOrderable(key.dataType)).foreach { key =>
      throw UpkeepErrors.zOrderColumn(
        key.name,
        table.name,
        s"Values of type ${key.dataType.sql} have no order."
      )
    }
  }
}
