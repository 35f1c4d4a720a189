package io.deltaupkeep.statement

import scala.reflect.runtime.universe.TypeTag

import io.deltaupkeep.health.HealthResult
import io.deltaupkeep.maintain.MaintainResult
import io.deltaupkeep.plan.analyze.AnalyzeResult
import io.deltaupkeep.plan.checkpoint.CheckpointResult
import io.deltaupkeep.plan.cleanup.CleanupResult
import io.deltaupkeep.plan.compact.{OptimizeMetrics, OptimizeResult}
import io.deltaupkeep.plan.repair.FsckResult
import io.deltaupkeep.plan.vacuum.VacuumResult

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.delta.upkeep.optimize.DeltaMetrics
import org.apache.spark.sql.types.{StructField, StructType}

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
  val fsck = new ResultSchema[FsckResult]
  val maintain = new ResultSchema[MaintainResult]
}

/**
 * The column `metrics` of OPTIMIZE as the Delta of this session has it: Delta's fields in Delta's order, then ours. A
 * field of a newer Delta that we do not know is null or zero.
 */
private object MetricsColumn {

  private lazy val ours = Encoders.product[OptimizeMetrics].schema

  private lazy val arrangedType: StructType = {
    val deltas = DeltaMetrics.schema
    StructType(deltas ++ ours.filterNot(field => deltas.fieldNames.contains(field.name)))
  }

  /** The position of each field's value among ours, or what stands in for it. */
  private lazy val values: Seq[Either[Any, Int]] = arrangedType.map { field =>
    Some(ours.fieldNames.indexOf(field.name)).filter(_ >= 0).toRight(missing(field))
  }

  private def missing(field: StructField): Any =
    if (field.nullable) null else Literal.default(field.dataType).value

  def arranged(schema: StructType): StructType = StructType(schema.map { field =>
    field.dataType match {
      case `ours` => field.copy(dataType = arrangedType)
      case nested: StructType => field.copy(dataType = arranged(nested))
      case _ => field
    }
  })

  def arranged(result: Product): Row = Row.fromSeq(result.productIterator.map(arrangedValue).toSeq)

  private def arrangedValue(value: Any): Any = value match {
    case metrics: OptimizeMetrics => Row.fromSeq(values.map(_.fold(identity, metrics.productElement)))
    case Some(nested: OptimizeResult) => arranged(nested)
    case other => other
  }
}
