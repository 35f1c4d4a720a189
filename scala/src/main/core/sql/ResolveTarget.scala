package io.deltaupkeep.sql

import io.deltaupkeep.statement.UnresolvedTarget

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.upkeep.table.DeltaTarget
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** Looks the table up, or fails with an error that says what was found instead. */
private[sql] final case class ResolveTarget(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case UnresolvedTarget(statement, _, Some(path), options) =>
      DeltaApi.require(statement)
      DeltaTarget.byPath(session, statement, path, options)
    case UnresolvedTarget(statement, name, None, _) =>
      DeltaApi.require(statement)
      DeltaTarget.byName(session, statement, name)
  }
}
