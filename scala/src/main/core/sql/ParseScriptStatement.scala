package io.deltaupkeep.sql

import io.deltaupkeep.sql.parser.ScriptStatements

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Parses a statement of ours that a SQL script has come to. */
private[sql] final case class ParseScriptStatement(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case ScriptStatements(text) => session.sessionState.sqlParser.parsePlan(text)
  }
}
