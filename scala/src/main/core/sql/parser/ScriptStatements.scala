package io.deltaupkeep.sql.parser

import java.util.{Locale, UUID}

import scala.annotation.tailrec
import scala.util.Try

import org.antlr.v4.runtime.Token

import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SetCatalogAndNamespace}
import org.apache.spark.sql.internal.VariableSubstitution

/**
 * Our statements inside SQL scripts (`BEGIN ... END`, since Spark 4.0). Spark's parser reads a script as a whole, and
 * its plans cannot be changed: copies lose exception handlers. So a USE of a name that contains the text stands in
 * for a statement of ours until the script runs it. Nobody else can write such a name: a part of it is random.
 */
private[sql] object ScriptStatements {

  /** The text that a plan of a script stands in for. */
  def unapply(plan: LogicalPlan): Option[String] = plan match {
    case SetCatalogAndNamespace(namespace: UnresolvedNamespace) =>
      namespace.multipartIdentifier match {
        case Seq(name) if name.startsWith(Prefix) => Some(name.stripPrefix(Prefix))
        case _ => None
      }
    case _ => None
  }

  /** @param words the first three tokens of a text; a label may come before BEGIN */
  private[parser] def isScript(words: List[String]): Boolean = words match {
    case first :: _ if first.equalsIgnoreCase("BEGIN") => true
    case _ :: ":" :: third :: _ => third.equalsIgnoreCase("BEGIN")
    case _ => false
  }

  private[parser] def parse(sqlText: String)(
      delegated: String => LogicalPlan,
      parseStatement: String => LogicalPlan
  ): LogicalPlan = {
    val found =
      statementsIn(sqlText).filter { case (start, end) =>
        Try(parseStatement(sqlText.substring(start, end))).isSuccess
      }
    if (found.nonEmpty)
      // As long as the script itself, so that its mistakes are shown at their place.
      try
        delegated(replaced(sqlText, found)(statement => "USE `x`" + blank(statement.drop("USE `x`".length))))
      catch { case e: ParseException => throw e.withCommand(sqlText) }
    delegated(replaced(sqlText, found) { statement =>
      val text = new VariableSubstitution().substitute(statement)
      s"USE `$Prefix${text.replace("`", "``")}`"
    })
  }

  private def replaced(sqlText: String, found: Seq[(Int, Int)])(standIn: String => String): String =
    found.sortBy(-_._1).foldLeft(sqlText) { case (text, (start, end)) =>
      text.patch(start, standIn(text.substring(start, end)), end - start)
    }

  private def blank(text: String): String = text.map(c => if (c == '\n') c else ' ')

  /** Where statements stand that begin like ours. */
  private def statementsIn(sqlText: String): Seq[(Int, Int)] = {
    val tokens = UpkeepSqlParser.tokensOf(sqlText).takeWhile(_.getType != Token.EOF).toIndexedSeq
    def index(codePoint: Int): Int = sqlText.offsetByCodePoints(0, codePoint)
    for {
      first <- tokens.indices.drop(1)
      if UpkeepSqlParser.beginsLikeOurs(tokens.slice(first, first + 5).map(_.getType).toList)
      last = tokens.indexWhere(_.getText == ";", first) - 1
      if last >= first
      before = tokens.slice(tokens.lastIndexWhere(_.getText == ";", first) + 1, first)
      if mayStandBehind(before.map(word), tokens.slice(first, last + 1))
    } yield index(tokens(first).getStartIndex) -> index(tokens(last).getStopIndex + 1)
  }

  /** @param before the words since the last semicolon */
  private def mayStandBehind(before: Seq[String], statement: Seq[Token]): Boolean = before.lastOption match {
    case None | Some("BEGIN" | "DO" | "LOOP" | "REPEAT") => true
    case Some("THEN" | "ELSE") => endsWhatItBegins(statement)
    case Some("ATOMIC") => before.endsWith(Seq("BEGIN", "NOT", "ATOMIC"))
    case _ => isHandler(before.drop(before.lastIndexOf("DECLARE")).toList)
  }

  /** Not so in `CASE WHEN a THEN maintain END`. */
  private def endsWhatItBegins(statement: Seq[Token]): Boolean =
    statement.map(word).scanLeft(0) {
      case (open, "CASE") => open + 1
      case (open, "END") => open - 1
      case (open, _) => open
    }.forall(_ >= 0)

  /** `DECLARE EXIT HANDLER FOR SQLEXCEPTION, SQLSTATE '42000'`, behind which one statement stands. */
  private def isHandler(words: List[String]): Boolean = words match {
    case "DECLARE" :: _ :: "HANDLER" :: "FOR" :: conditions => areConditions(conditions)
    case _ => false
  }

  @tailrec
  private def areConditions(words: List[String]): Boolean = {
    val behind = words match {
      case "NOT" :: "FOUND" :: rest => rest
      case "SQLSTATE" :: "VALUE" :: _ :: rest => rest
      case "SQLSTATE" :: _ :: rest => rest
      case rest => rest.drop(1)
    }
    behind match {
      case Nil => words.nonEmpty
      case "," :: more => areConditions(more)
      case _ => false
    }
  }

  private def word(token: Token): String = token.getText.toUpperCase(Locale.ROOT)

  private val Prefix = s"${UUID.randomUUID()} "
}
