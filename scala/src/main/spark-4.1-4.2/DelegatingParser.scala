package io.deltaupkeep.sql.parser

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType

/** Parser methods that only some versions of Spark require. Since 4.1 plans have parameters. */
private[deltaupkeep] trait DelegatingParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** Parses our statements, and anything else as given. */
  protected def parseWith(sqlText: String)(delegated: => LogicalPlan): LogicalPlan

  override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan =
    parseWith(sqlText)(delegate.parsePlanWithParameters(sqlText, parameters))

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
