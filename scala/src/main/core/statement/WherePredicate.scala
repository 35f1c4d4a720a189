package io.deltaupkeep.statement

import io.deltaupkeep.{TableFacts, UpkeepErrors}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.apache.spark.sql.catalyst.analysis.{
  ExpressionWithUnresolvedIdentifier,
  MultiAlias,
  Parameter,
  UnresolvedAttribute,
  UnresolvedFunction
}
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  AttributeReference,
  Expression,
  LambdaFunction,
  Literal,
  NamedExpression,
  StringRPad,
  SubqueryExpression,
  UnresolvedNamedLambdaVariable
}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, SubqueryAlias}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.delta.upkeep.files.FilePredicate
import org.apache.spark.sql.types.{CharType, StructType}

/** Reads predicates of statements: expressions over columns, whose names may be qualified with the table's. */
private[statement] final class WherePredicate(session: SparkSession, table: TableFacts, schema: StructType) {
  import WherePredicate._

  private val state = session.sessionState

  /** What Spark resolves the columns by. */
  private lazy val relation = SubqueryAlias(
    state.sqlParser.parseMultipartIdentifier(table.name),
    // Not a local one, which the optimizer would filter itself.
    session.createDataFrame(session.sparkContext.emptyRDD[Row], schema).queryExecution.analyzed
  )

  /**
   * Conditions on partition columns.
   *
   * @throws io.deltaupkeep.UpkeepException `INVALID_PREDICATE`, `SUBQUERY_IN_PREDICATE`, `UNBOUND_PARAMETER`,
   *                                        `NONDETERMINISTIC_PREDICATE`, `MISSING_COLUMN`, `NON_PARTITION_COLUMN`
   */
  def ofPartitions(texts: Seq[String]): FilePredicate = {
    val conditions = texts.flatMap(parse)
    conditions.flatMap(dataColumns).foreach { column =>
      throw UpkeepErrors.nonPartitionColumn(column.name, table.name, table.partitionColumns)
    }
    if (conditions.nonEmpty) optimized(conditions)
    FilePredicate(conditions)
  }

  /**
   * Conditions on any columns.
   *
   * @throws io.deltaupkeep.UpkeepException as [[ofPartitions]], without the last one
   */
  def ofRows(texts: Seq[String]): FilePredicate = {
    val conditions = texts.flatMap(parse)
    if (conditions.nonEmpty) optimized(conditions)
    val (partition, data) = conditions.partition(dataColumns(_).isEmpty)
    val certain = data.filterNot(hasUncertainBounds)
    FilePredicate(partition, data, if (certain.isEmpty) Nil else filtersOf(certain))
  }

  private def parse(text: String): Seq[Expression] = {
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
    val predicate = typed.transform { case column: UnresolvedAttribute => columnOf(column) }
    val plan = analyzed(text, predicate)
    if (isNondeterministic(plan)) throw UpkeepErrors.nondeterministicPredicate(text)
    // The body of a function may have one.
    if (plan.collectLeaves().size > 1 || plan.exists(_.expressions.exists(SubqueryExpression.hasSubquery)))
      throw UpkeepErrors.subqueryInPredicate(text)
    conjuncts(paddedAsRead(predicate, plan))
  }

  /**
   * Readers pad values of CHAR columns, as Spark pads what they are compared with. The log has partition values as they
   * were written.
   */
  private def paddedAsRead(predicate: Expression, plan: LogicalPlan): Expression = {
    val lengths = for {
      field <- schema if isPartitionColumn(Seq(field.name))
      char <- CharVarcharUtils.getRawType(field.metadata).collect { case char: CharType => char }
    } yield field.name -> char.length
    def lengthOf(name: String) =
      lengths.collectFirst { case (char, length) if resolver(char, name) => length }
    val isPadded = !state.conf.charVarcharAsString && predicate.exists {
      case column: UnresolvedAttribute =>
        column.nameParts.size == 1 && lengthOf(column.nameParts.head).nonEmpty
      case _ => false
    }
    def isColumn(name: String) = schema.exists(field => resolver(field.name, name))
    val analyzed =
      for {
        filter <- plan.collectFirst { case filter: Filter if isPadded => filter }
        // A SQL function may have made others.
        if filter.condition.references.forall(column => isColumn(column.name))
      } yield filter.condition.transform { case column: AttributeReference =>
        val name = UnresolvedAttribute(Seq(column.name))
        lengthOf(column.name).fold[Expression](name)(length => StringRPad(name, Literal(length)))
      }
    analyzed.getOrElse(predicate)
  }

  /**
   * Whether files may have rows that meet a condition which their bounds rule out: of CHAR columns, bounds have no padding,
   * and those of a FLOAT that became a DOUBLE are texts of another number.
   */
  private def hasUncertainBounds(condition: Expression): Boolean = {
    val uncertain = schema.filter { field =>
      CharVarcharUtils.getRawTypeString(field.metadata).exists(Char.findFirstIn(_).nonEmpty) ||
      StructType(Seq(field)).json.contains(FromFloat)
    }
    condition.exists {
      case column: UnresolvedAttribute =>
        column.nameParts.exists(part => uncertain.exists(field => resolver(field.name, part)))
      case _ => false
    }
  }

  private def conjuncts(predicate: Expression): Seq[Expression] = predicate match {
    case And(left, right) => conjuncts(left) ++ conjuncts(right)
    case other => Seq(other)
  }

  private def dataColumns(condition: Expression): Seq[UnresolvedAttribute] = condition.collect {
    case column: UnresolvedAttribute if !isPartitionColumn(column.nameParts) => column
  }

  private def isPartitionColumn(nameParts: Seq[String]): Boolean =
    nameParts.size == 1 && table.partitionColumns.exists(resolver(_, nameParts.head))

  /** The filters that a query has for these conditions: with types, and without what is constant. */
  private def filtersOf(conditions: Seq[Expression]): Seq[Expression] = {
    val plan = optimized(conditions)
    if (plan.maxRows.contains(0L)) Seq(Literal.FalseLiteral)
    else plan.collect { case filter: Filter => conjuncts(filter.condition) }.flatten
  }

  private def optimized(conditions: Seq[Expression]): LogicalPlan = {
    val all = conditions.reduce(And(_, _))
    try state.executePlan(Filter(all, relation)).optimizedPlan
    // A constant that cannot be computed, such as 1 / 0.
    catch {
      case e: RuntimeException with SparkThrowable => throw UpkeepErrors.invalidPredicate(all.sql, e)
    }
  }

  /** Whether a lambda uses a name that no lambda around it has bound. Delta would take it for one of its log's. */
  private def usesColumn(expression: Expression, bound: Seq[String]): Boolean = expression match {
    case LambdaFunction(body, arguments, _) => usesColumn(body, bound ++ arguments.map(_.name))
    case variable: UnresolvedNamedLambdaVariable => !bound.exists(resolver(_, variable.nameParts.head))
    case other => other.children.exists(usesColumn(_, bound))
  }

  private def isNondeterministic(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(!_.deterministic))

  /** A column without its qualifier; a field of one as it is. */
  private def columnOf(column: UnresolvedAttribute): Expression = {
    val (nameParts, name) = (column.nameParts, column.nameParts.mkString("."))
    val found =
      try resolved(nameParts).orElse(resolved(Seq(name)))
      catch {
        // A field of a column that has no such field, which is told when types are checked.
        case _: AnalysisException => Some(column)
      }
    found match {
      case Some(found: AttributeReference) => UnresolvedAttribute(Seq(found.name))
      case Some(_) => column
      case None if nameParts.size == 1 && WithoutParentheses.exists(_.equalsIgnoreCase(name)) =>
        UnresolvedFunction(name, Nil, isDistinct = false)
      case None => throw UpkeepErrors.missingColumn(name, table.name, table.columns)
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

private object WherePredicate {

  private val Char = "\\bchar\\(".r

  /** In the metadata of columns (protocol, 'Type Change Metadata'). */
  private val FromFloat = "\"fromType\":\"float\""

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
