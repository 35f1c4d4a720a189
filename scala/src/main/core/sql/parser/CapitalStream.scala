package io.deltaupkeep.sql.parser

import org.antlr.v4.runtime.{CharStream, CharStreams, IntStream}
import org.antlr.v4.runtime.misc.Interval

/**
 * A text whose letters the lexer sees as capitals, so that keywords are case-insensitive. Tokens keep their text.
 * ANTLR has an option for this since 4.10, but Spark 3.5 ships 4.9.
 */
private[deltaupkeep] final class CapitalStream(text: String) extends CharStream {

  private val chars = CharStreams.fromString(text)

  override def LA(i: Int): Int = chars.LA(i) match {
    case none @ (0 | IntStream.EOF) => none
    case char => Character.toUpperCase(char)
  }

  override def consume(): Unit = chars.consume()
  override def mark(): Int = chars.mark()
  override def release(marker: Int): Unit = chars.release(marker)
  override def index(): Int = chars.index()
  override def seek(index: Int): Unit = chars.seek(index)
  override def size(): Int = chars.size()
  override def getSourceName: String = chars.getSourceName
  override def getText(interval: Interval): String = chars.getText(interval)
}
