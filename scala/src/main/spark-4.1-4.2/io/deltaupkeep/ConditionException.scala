package io.deltaupkeep

import org.apache.spark.sql.AnalysisException

/** An error with a condition. Since 4.1 Spark takes the SQLSTATE of a condition that it does not know. */
private[deltaupkeep] abstract class ConditionException(
    message: String,
    condition: String,
    sqlState: String,
    parameters: Map[String, String],
    cause: Option[Throwable]
) extends AnalysisException(
      message,
      None,
      None,
      cause,
      Some(condition),
      parameters,
      Array.empty,
      Some(sqlState),
      None
    )
