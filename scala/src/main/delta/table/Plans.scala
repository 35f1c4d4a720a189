package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.V1Table
import org.apache.spark.sql.delta.DeltaTableUtils
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.upkeep.spark.SparkApi

/** Plans that were built without SQL text. */
object Plans {

  def run(session: SparkSession, plan: LogicalPlan): DataFrame = SparkApi.ofRows(session, plan)

  /** The Delta table that a plan stands for. */
  private[upkeep] def tableIn(plan: LogicalPlan): Option[DeltaTableV2] =
    Option.when(isTable(plan))(DeltaTableV2.extractFrom(plan, ""))

  /** The same, if it was found by its path and not in a catalog. */
  private[upkeep] def pathTableIn(plan: LogicalPlan): Option[DeltaTableV2] =
    tableIn(plan).filter(_.catalogTable.isEmpty)

  private def isTable(plan: LogicalPlan): Boolean = plan match {
    case ResolvedTable(_, _, _: DeltaTableV2, _) => true
    case ResolvedTable(_, _, table: V1Table, _) => DeltaTableUtils.isDeltaTable(table.catalogTable)
    case _ => false
  }
}
