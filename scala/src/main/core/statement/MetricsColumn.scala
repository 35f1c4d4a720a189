package io.deltaupkeep.statement

import io.deltaupkeep.plan.compact.{OptimizeMetrics, OptimizeResult}

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.delta.upkeep.optimize.DeltaMetrics
import org.apache.spark.sql.types.{StructField, StructType}

/**
 * The column `metrics` of OPTIMIZE as the Delta of this session has it: Delta's fields in Delta's order, then ours. A
 * field of a newer Delta that we do not know is null or zero.
 */
private[deltaupkeep] object MetricsColumn {

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
