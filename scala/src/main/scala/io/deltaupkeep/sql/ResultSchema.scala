package io.deltaupkeep.sql

import scala.reflect.runtime.universe.TypeTag

import io.deltaupkeep.checkpoint.CheckpointResult
import io.deltaupkeep.cleanup.CleanupResult
import io.deltaupkeep.health.HealthResult
import io.deltaupkeep.optimize.OptimizeResult

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils

/**
 * The SQL shape of a result: derived from its case class, so that there is one declaration of both. Derived once,
 * for reflection takes longer than many a statement.
 */
private[sql] final class ResultSchema[R <: Product: TypeTag] {

  private lazy val schema = Encoders.product[R].schema

  /** The columns, with ids of their own for each plan that has them. */
  def attributes: Seq[Attribute] = DataTypeUtils.toAttributes(schema)

  def row(result: R): Row = Row.fromTuple(result)
}

private[sql] object ResultSchema {
  val optimize = new ResultSchema[OptimizeResult]
  val checkpoint = new ResultSchema[CheckpointResult]
  val cleanup = new ResultSchema[CleanupResult]
  val health = new ResultSchema[HealthResult]
  val maintain = new ResultSchema[MaintainResult]
}
