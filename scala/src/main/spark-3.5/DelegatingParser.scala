package io.deltaupkeep.sql.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Parser methods that only some versions of Spark require: in 3.5, none. */
private[deltaupkeep] trait DelegatingParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** Parses our statements, and gives anything else to the delegate. */
  protected def parseWith(sqlText: String)(delegated: String => LogicalPlan): LogicalPlan
}
