package io.deltaupkeep.sql

import io.deltaupkeep.statement.{UnresolvedTarget, UpkeepCommand}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.upkeep.table.{DeltaTarget, Switch}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * Looks the table up, or fails with an error that says what was found instead. A statement that Delta has too becomes
 * Delta's if the session or the table is switched off.
 */
private[sql] final case class ResolveTarget(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case UpkeepCommand(target: UnresolvedTarget, statement) =>
      DeltaApi.require(target.statement)
      val isOn = Switch.isOn(session)
      val ofDelta = statement.ofDelta
      if (!isOn && ofDelta.isEmpty) throw Switch.refusalIn(session, target.statement)
      val table = lookUp(target)
      ofDelta
        .filter(_ => !isOn || Switch.isOffFor(session, table))
        .fold[LogicalPlan](UpkeepCommand(table, statement))(_(table))
  }

  private def lookUp(target: UnresolvedTarget): LogicalPlan = target.path match {
    case Some(path) => DeltaTarget.byPath(session, target.statement, path, target.fileSystemOptions)
    case None => DeltaTarget.byName(session, target.statement, target.name)
  }
}
