package io.deltaupkeep

import org.apache.spark.sql.AnalysisException

/** An error with a condition. Spark 4.0 knows the SQLSTATEs of its own conditions alone. */
private[deltaupkeep] abstract class ConditionException(
    message: String,
    condition: String,
    sqlState: String,
    parameters: Map[String, String],
    cause: Option[Throwable]
) extends AnalysisException(message, None, None, cause, Some(condition), parameters, Array.empty) {
  override def getSqlState: String = sqlState
}
