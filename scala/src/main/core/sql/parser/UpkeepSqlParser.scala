package io.deltaupkeep.sql.parser

import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import io.deltaupkeep.statement.{ReorgStatement, Statement, UpkeepCommand}

import org.antlr.v4.runtime.{CommonTokenStream, Token}

import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{
  ParseErrorListener,
  ParseException,
  ParserInterface,
  SparkParserErrorStrategy
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.VariableSubstitution
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Parses the statements of Delta Upkeep, and passes any other text to the delegate.
 *
 * @param isOn whether the session uses Delta Upkeep; otherwise the delegate parses all that it knows
 */
final class UpkeepSqlParser(
    override protected val delegate: ParserInterface,
    isOn: () => Boolean = () => true
) extends DelegatingParser {
  import UpkeepSqlParser._

  override def parsePlan(sqlText: String): LogicalPlan = parseWith(sqlText)(delegate.parsePlan)

  /**
   * A text that begins like one of our statements but does not parse goes to the delegate too, because
   * another extension may know it. If the delegate fails as well, our error points at the right place. In a session
   * that is switched off, a statement that only Delta Upkeep has is refused once its table is looked up.
   */
  override protected def parseWith(sqlText: String)(delegated: String => LogicalPlan): LogicalPlan =
    if (!beginsLikeOurs(sqlText))
      if (ScriptStatements.isScript(tokensOf(sqlText).map(_.getText).take(3).toList) && isOn())
        ScriptStatements.parse(sqlText)(delegated, parseStatement)
      else delegated(sqlText)
    else if (!isOn())
      try delegated(sqlText)
      catch { case theirs: ParseException => Try(parseStatement(sqlText)).getOrElse(throw theirs) }
    else
      Try(parseStatement(sqlText)) match {
        case Success(plan) if isDeltas(plan) => Try(delegated(sqlText)).getOrElse(plan)
        case Success(plan) => plan
        case Failure(ours: ParseException) =>
          try delegated(sqlText)
          catch { case NonFatal(theirs) => throw if (isSparksAnalyze(sqlText)) theirs else ours }
        case Failure(other) => throw other
      }

  private def parseStatement(sqlText: String): LogicalPlan = {
    val text = new VariableSubstitution().substitute(sqlText)
    parse(text) { parser =>
      val tree = parser.singleStatement()
      val (markers, parameters) = new ParameterMarkers(delegate).visit(tree).unzip
      if (markers.isEmpty) new UpkeepAstBuilder(delegate).visit(tree)
      else UnboundStatement(text, markers, parameters)
    }
  }

  override def parseExpression(sqlText: String): Expression = delegate.parseExpression(sqlText)
  override def parseTableIdentifier(sqlText: String): TableIdentifier = delegate.parseTableIdentifier(sqlText)
  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)
  override def parseMultipartIdentifier(sqlText: String): Seq[String] =
    delegate.parseMultipartIdentifier(sqlText)
  override def parseQuery(sqlText: String): LogicalPlan = delegate.parseQuery(sqlText)
  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)
  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)
}

private[deltaupkeep] object UpkeepSqlParser {

  /** The plan of a statement whose parameters have values. */
  def parseBound(delegate: ParserInterface, statement: UnboundStatement): LogicalPlan =
    parse(statement.boundText)(parser => new UpkeepAstBuilder(delegate).visit(parser.singleStatement()))

  /** An OPTIMIZE, from what follows its table. */
  def parseOptimize(delegate: ParserInterface, clauses: String): Statement =
    parse(clauses) { parser =>
      new UpkeepAstBuilder(delegate).optimize(parser.singleOptimizeClauses().optimizeClauses())
    }

  /** Whether it is a REORG as Delta has it, which becomes ours in the plan. */
  private def isDeltas(plan: LogicalPlan): Boolean = plan match {
    case UpkeepCommand(_, statement) => statement.kind == ReorgStatement && statement.ofDelta.nonEmpty
    case _ => false
  }

  /** Looks at the first words only, so that other statements cost almost nothing. */
  private def beginsLikeOurs(sqlText: String): Boolean =
    beginsLikeOurs(tokensOf(sqlText).map(_.getType).take(5).toList)

  /** The tokens of a text, without white space and comments. The last one is its end. */
  private[parser] def tokensOf(sqlText: String): Iterator[Token] = {
    val lexer = lexerOf(sqlText)
    Iterator.continually(lexer.nextToken()).filter(_.getChannel == Token.DEFAULT_CHANNEL)
  }

  private[parser] def beginsLikeOurs(tokens: List[Int]): Boolean = {
    import UpkeepSqlBaseLexer._
    val statement = tokens match {
      case EXPLAIN :: (EXTENDED | CODEGEN | COST | FORMATTED) :: rest => rest
      case EXPLAIN :: rest => rest
      case all => all
    }
    statement match {
      case (OPTIMIZE | CHECKPOINT | MAINTAIN | VACUUM) :: _ => true
      case CLEANUP :: LOG :: _ => true
      case FSCK :: REPAIR :: TABLE :: _ => true
      case (REORG | ANALYZE) :: TABLE :: _ => true
      case (DESC | DESCRIBE) :: HEALTH :: next :: _ => next != Token.EOF && next != DOT
      case _ => false
    }
  }

  /** Spark's own parser explains the mistakes in Spark's ANALYZE. */
  private def isSparksAnalyze(sqlText: String): Boolean = {
    import UpkeepSqlBaseLexer._
    val tokens = tokensOf(sqlText).map(_.getType).takeWhile(_ != Token.EOF).toList
    tokens.take(3).contains(ANALYZE) && !tokens.containsSlice(Seq(COMPUTE, DELTA))
  }

  private def parse[T](text: String)(read: UpkeepSqlBaseParser => T): T = {
    val parser = new UpkeepSqlBaseParser(new CommonTokenStream(lexerOf(text)))
    parser.removeErrorListeners()
    parser.addErrorListener(ParseErrorListener)
    // Without it, syntax errors have no condition in Spark 3.5.
    parser.setErrorHandler(new SparkParserErrorStrategy)
    try read(parser)
    catch { case e: ParseException if e.command.isEmpty => throw e.withCommand(text) }
  }

  private def lexerOf(text: String): UpkeepSqlBaseLexer = {
    val lexer = new UpkeepSqlBaseLexer(new CapitalStream(text))
    lexer.removeErrorListeners()
    lexer.addErrorListener(ParseErrorListener)
    lexer
  }
}
