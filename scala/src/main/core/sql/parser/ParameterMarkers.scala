package io.deltaupkeep.sql.parser

import scala.util.Try

import io.deltaupkeep.sql.parser.UpkeepSqlBaseParser._

import org.antlr.v4.runtime.ParserRuleContext

import org.apache.spark.sql.catalyst.analysis.{NamedParameter, Parameter, PosParameter}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * `:name` or `?` in the text of a statement, where a value is to stand.
 *
 * @param start        of its first character, counted in code points like everything of the parser
 * @param end          behind its last character
 * @param inExpression whether the value is a part of an expression, or a value of an option or of RETAIN
 */
private[sql] final case class ParameterMarker(start: Int, end: Int, inExpression: Boolean)

/** Finds the parameters of a statement. Those in expressions are what Spark's parser takes for one. */
private[parser] final class ParameterMarkers(delegate: ParserInterface)
    extends UpkeepSqlBaseBaseVisitor[Seq[(ParameterMarker, Expression)]] {

  override def visitParameter(context: ParameterContext): Seq[(ParameterMarker, Expression)] = {
    val start = context.getStart.getStartIndex
    val marker = ParameterMarker(start, context.getStop.getStopIndex + 1, inExpression = false)
    val parameter =
      if (context.identifier() == null) PosParameter(start)
      else NamedParameter(delegate.parseMultipartIdentifier(context.identifier().getText).head)
    Seq(marker -> parameter)
  }

  override def visitPredicate(context: PredicateContext): Seq[(ParameterMarker, Expression)] =
    inExpression(context)

  override def visitExpression(context: ExpressionContext): Seq[(ParameterMarker, Expression)] =
    inExpression(context)

  /**
   * An expression that does not parse has none. It is refused once the statement runs. Spark's parser copies the
   * operands of some expressions, such as CASE.
   */
  private def inExpression(context: ParserRuleContext): Seq[(ParameterMarker, Expression)] = {
    val text = Source.of(context)
    val offset = context.getStart.getStartIndex
    if (!text.exists(c => c == ':' || c == '?')) Nil
    else
      Try(delegate.parseExpression(text)).toOption.toSeq.flatMap(_.collect { case found: Parameter => found })
        .flatMap { found =>
          for (start <- found.origin.startIndex; stop <- found.origin.stopIndex) yield {
            val parameter = found match {
              case PosParameter(_) => PosParameter(offset + start)
              case named => named
            }
            ParameterMarker(offset + start, offset + stop + 1, inExpression = true) -> parameter
          }
        }
        .groupBy { case (marker, _) => marker.start }
        .values
        .map(_.head)
        .toSeq
        .sortBy { case (marker, _) => marker.start }
  }

  override protected def defaultResult(): Seq[(ParameterMarker, Expression)] = Nil

  override protected def aggregateResult(
      all: Seq[(ParameterMarker, Expression)],
      next: Seq[(ParameterMarker, Expression)]
  ): Seq[(ParameterMarker, Expression)] = all ++ next
}
