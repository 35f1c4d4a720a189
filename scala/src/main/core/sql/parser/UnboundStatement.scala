package io.deltaupkeep.sql.parser

import org.apache.spark.sql.catalyst.analysis.UnresolvedLeafNode
import org.apache.spark.sql.catalyst.expressions.{Alias, Cast, Expression, Literal}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{NumericType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A statement with parameters. Spark replaces those that it has values for while it analyzes a plan; then the text is
 * parsed again, with the values as literals.
 *
 * @param values one for each marker: a parameter, or the literal that took its place
 */
private[sql] final case class UnboundStatement(
    text: String,
    markers: Seq[ParameterMarker],
    values: Seq[Expression]
) extends UnresolvedLeafNode {

  def isBound: Boolean = values.forall(_.resolved)

  /** The text with values in place of its parameters. */
  def boundText: String =
    markers.zip(values).sortBy(-_._1.start).foldLeft(text) { case (text, (marker, bound)) =>
      val value = unnamed(bound)
      val sql = if (marker.inExpression) literal(value) else plain(value)
      text.substring(0, text.offsetByCodePoints(0, marker.start)) + sql +
        text.substring(text.offsetByCodePoints(0, marker.end))
    }

  /** In EXECUTE IMMEDIATE of Spark 4.0, the name of a value is a part of it. */
  private def unnamed(value: Expression): Expression = value match {
    case Alias(child, _) => child
    case other => other
  }

  /** Spark's parser would replace `${name}` by the value of a setting, and take `--` for a comment. */
  private def literal(value: Expression): String = value match {
    // With this setting a literal has no escapes, so it cannot have quotes.
    case Literal(string: UTF8String, _) if SQLConf.get.escapedStringLiterals =>
      s"CAST(X'${string.getBytes.map(byte => f"$byte%02X").mkString}' AS STRING)"
    case _ => escaped(value)
  }

  private def escaped(value: Expression): String =
    value.sql.replace("${", "\\u0024{").replaceFirst("^-", " -")

  /** As it is typed in OPTIONS or RETAIN: `1`, where the literal is `1L`. */
  private def plain(value: Expression): String = value.dataType match {
    case _: NumericType => String.valueOf(Cast(value, StringType).eval())
    case _ => escaped(value)
  }
}
