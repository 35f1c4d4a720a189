package io.deltaupkeep.sql.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType

/** Parser methods that only some versions of Spark require. Since 4.0 routines have parameters. */
private[deltaupkeep] trait DelegatingParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** Parses our statements, and gives anything else to the delegate. */
  protected def parseWith(sqlText: String)(delegated: String => LogicalPlan): LogicalPlan

  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
