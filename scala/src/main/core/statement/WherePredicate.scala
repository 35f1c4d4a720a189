package io.deltaupkeep.statement

import io.deltaupkeep.{TableFacts, UpkeepErrors}

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{
  ExpressionWithUnresolvedIdentifier,
  MultiAlias,
  Parameter,
  UnresolvedAttribute,
  UnresolvedFunction
}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Expression,
  LambdaFunction,
  NamedExpression,
  SubqueryExpression,
  UnresolvedNamedLambdaVariable
}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StructType

/**
 * Reads predicates of OPTIMIZE and REORG: expressions over partition columns, whose names may be qualified with the
 * table's.
 */
private[statement] final class PartitionPredicate(
    session: SparkSession,
    table: TableFacts,
    schema: StructType
) {
  import PartitionPredicate._

  private val state = session.sessionState

  /** What Spark resolves the columns by. */
  private lazy val relation = SubqueryAlias(
    state.sqlParser.parseMultipartIdentifier(table.name),
    LocalRelation(DataTypeUtils.toAttributes(schema))
  )

  /**
   * @throws io.deltaupkeep.UpkeepException `INVALID_PREDICATE`, `SUBQUERY_IN_PREDICATE`, `UNBOUND_PARAMETER`,
   *                                        `NONDETERMINISTIC_PREDICATE`, `MISSING_COLUMN`, `NON_PARTITION_COLUMN`
   */
  def parse(text: String): Expression = {
    val typed =
      try state.sqlParser.parseExpression(text)
      catch { case e: ParseException => throw UpkeepErrors.invalidPredicate(text, e) }
    if (SubqueryExpression.hasSubquery(typed)) throw UpkeepErrors.subqueryInPredicate(text)
    if (typed.exists(_.isInstanceOf[Parameter])) throw UpkeepErrors.unboundParameter(text)
    // Spark's parser takes `p = 1 foo` for a column of that name, and so a mistyped DRY RUN.
    if (typed.isInstanceOf[Alias] || typed.isInstanceOf[MultiAlias])
      throw UpkeepErrors.uncertainPredicate(
        text,
        "A word stands behind the condition, where a column has its name."
      )
    if (typed.exists(_.isInstanceOf[ExpressionWithUnresolvedIdentifier]))
      throw UpkeepErrors.uncertainPredicate(text, "IDENTIFIER may stand for the table only.")
    if (usesColumn(typed, Nil))
      throw UpkeepErrors.uncertainPredicate(
        text,
        "A function in it uses a name that is not its own argument."
      )
    val predicate = typed.transform { case column: UnresolvedAttribute => partitionColumn(column.nameParts) }
    if (isNondeterministic(analyzed(text, predicate))) throw UpkeepErrors.nondeterministicPredicate(text)
    predicate
  }

  /** Whether a lambda uses a name that no lambda around it has bound. Delta would take it for one of its log's. */
  private def usesColumn(expression: Expression, bound: Seq[String]): Boolean = expression match {
    case LambdaFunction(body, arguments, _) => usesColumn(body, bound ++ arguments.map(_.name))
    case variable: UnresolvedNamedLambdaVariable => !bound.exists(resolver(_, variable.nameParts.head))
    case other => other.children.exists(usesColumn(_, bound))
  }

  private def isNondeterministic(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(!_.deterministic))

  /** The column without its qualifier. */
  private def partitionColumn(nameParts: Seq[String]): Expression = {
    val name = nameParts.mkString(".")
    def notPartitioning = UpkeepErrors.nonPartitionColumn(name, table.name, table.partitionColumns)
    val found =
      try resolved(nameParts).orElse(resolved(Seq(name)))
      catch {
        case _: AnalysisException => throw notPartitioning
      } // a field of a column that has no such field
    found match {
      case Some(column: Attribute) if table.partitionColumns.exists(resolver(_, column.name)) =>
        UnresolvedAttribute(Seq(column.name))
      case Some(_) => throw notPartitioning
      case None if nameParts.size == 1 && WithoutParentheses.exists(_.equalsIgnoreCase(name)) =>
        UnresolvedFunction(name, Nil, isDistinct = false)
      case None => throw UpkeepErrors.missingColumn(name, table.name, table.partitionColumns)
    }
  }

  private def resolved(nameParts: Seq[String]): Option[NamedExpression] =
    relation.resolve(nameParts, resolver)

  private def resolver = state.conf.resolver

  /** With types. Delta would only find their mistakes in a plan over its log. */
  private def analyzed(text: String, predicate: Expression): LogicalPlan =
    try state.executePlan(Filter(predicate, relation)).analyzed
    catch { case e: AnalysisException => throw UpkeepErrors.invalidPredicate(text, e) }
}

private object PartitionPredicate {

  /** Functions that Spark's parser takes for a column. */
  private val WithoutParentheses =
    Seq(
      "current_date",
      "current_time",
      "current_timestamp",
      "localtimestamp",
      "current_user",
      "session_user",
      "user"
    )
}
