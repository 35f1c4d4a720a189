package io.deltaupkeep.sql

import scala.reflect.runtime.universe.TypeTag

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils

/** The SQL shape of a result: derived from its case class, so that there is one declaration of both. */
private[sql] object ResultSchema {

  def attributes[R <: Product: TypeTag]: Seq[Attribute] =
    DataTypeUtils.toAttributes(Encoders.product[R].schema)

  def row(result: Product): Row = Row.fromTuple(result)
}
