package io.deltaupkeep.statement

import scala.reflect.runtime.universe.TypeTag

import io.deltaupkeep.health.HealthResult
import io.deltaupkeep.maintain.MaintainResult
import io.deltaupkeep.plan.analyze.AnalyzeResult
import io.deltaupkeep.plan.checkpoint.CheckpointResult
import io.deltaupkeep.plan.cleanup.CleanupResult
import io.deltaupkeep.plan.compact.OptimizeResult
import io.deltaupkeep.plan.vacuum.VacuumResult

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils

/**
 * The SQL schema of a result, derived from its case class so that both have one declaration. Derived once,
 * because reflection takes longer than many statements.
 */
private[deltaupkeep] final class ResultSchema[R <: Product: TypeTag] {

  private lazy val schema = MetricsColumn.arranged(Encoders.product[R].schema)

  /** The columns, with new ids for each plan. */
  def attributes: Seq[Attribute] = DataTypeUtils.toAttributes(schema)

  def row(result: R): Row = MetricsColumn.arranged(result)
}

private[deltaupkeep] object ResultSchema {
  val optimize = new ResultSchema[OptimizeResult]
  val checkpoint = new ResultSchema[CheckpointResult]
  val cleanup = new ResultSchema[CleanupResult]
  val health = new ResultSchema[HealthResult]
  val vacuum = new ResultSchema[VacuumResult]
  val analyze = new ResultSchema[AnalyzeResult]
  val maintain = new ResultSchema[MaintainResult]
}
