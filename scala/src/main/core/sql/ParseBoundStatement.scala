package io.deltaupkeep.sql

import io.deltaupkeep.sql.parser.{UnboundStatement, UpkeepSqlParser}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Parses a statement with parameters once Spark has bound them. One without a value is Spark's error. */
private[sql] final case class ParseBoundStatement(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case statement: UnboundStatement if statement.isBound =>
      UpkeepSqlParser.parseBound(session.sessionState.sqlParser, statement)
  }
}
