package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.DataFrameUtils

/** Runs a plan that was built without SQL text. */
object Plans {
  def run(session: SparkSession, plan: LogicalPlan): DataFrame = DataFrameUtils.ofRows(session, plan)
}
