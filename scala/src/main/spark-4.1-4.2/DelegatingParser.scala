package io.deltaupkeep.sql.parser

import org.apache.spark.sql.catalyst.analysis.{
  GeneralParameterizedQuery,
  NameParameterizedQuery,
  PosParameterizedQuery
}
import org.apache.spark.sql.catalyst.parser.{
  HybridParameterContext,
  NamedParameterContext,
  ParameterContext,
  ParserInterface,
  PositionalParameterContext
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreePattern.PARAMETER
import org.apache.spark.sql.types.StructType

/** Parser methods that only some versions of Spark require. Since 4.1 plans have parameters. */
private[deltaupkeep] trait DelegatingParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** Parses our statements, and gives anything else to the delegate. */
  protected def parseWith(sqlText: String)(delegated: String => LogicalPlan): LogicalPlan

  override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan =
    parseWith(sqlText)(delegate.parsePlanWithParameters(_, parameters))
      .transformUpWithPruning(_.containsPattern(PARAMETER)) {
        case statement: UnboundStatement => bind(statement, parameters)
      }

  /** The analyzer binds them, as in older versions. */
  private def bind(statement: UnboundStatement, parameters: ParameterContext): LogicalPlan =
    parameters match {
      case NamedParameterContext(values) if values.nonEmpty => NameParameterizedQuery(statement, values)
      case PositionalParameterContext(values) if values.nonEmpty => PosParameterizedQuery(statement, values)
      case HybridParameterContext(values, names) if values.nonEmpty =>
        GeneralParameterizedQuery(statement, values, names)
      case _ => statement
    }

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
