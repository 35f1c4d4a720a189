package io.deltaupkeep.sql.parser

import org.antlr.v4.runtime.ParserRuleContext
import org.antlr.v4.runtime.misc.Interval

private[parser] object Source {

  /** The text of a rule as the user typed it. */
  def of(context: ParserRuleContext): String =
    context.getStart.getInputStream.getText(
      Interval.of(context.getStart.getStartIndex, context.getStop.getStopIndex)
    )
}
