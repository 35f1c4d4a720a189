package io.deltaupkeep.sql.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** What a parser has to offer besides what all versions of Spark ask for: in 3.5, nothing. */
private[deltaupkeep] trait DelegatingParser extends ParserInterface {

  protected def delegate: ParserInterface

  /** Parses our statements, and anything else as given. */
  protected def parseWith(sqlText: String)(delegated: => LogicalPlan): LogicalPlan
}
