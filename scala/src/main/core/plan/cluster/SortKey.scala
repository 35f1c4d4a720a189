package io.deltaupkeep.plan.cluster

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Descending, SortOrder}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.Sort
import org.apache.spark.sql.catalyst.util.QuotingUtils

/**
 * A key of ORDER BY. Nulls are the smallest values, as Spark sorts them if nothing else is said.
 *
 * @param name by its parts
 */
final case class SortKey(name: Seq[String], isDescending: Boolean) {

  /** The column as Spark reads it. */
  def column: String = name.map(QuotingUtils.quoteIfNeeded).mkString(".")

  def text: String = if (isDescending) s"$column ${SortKey.Desc}" else column
}

object SortKey {

  private val Desc = "DESC"

  /** What a property has to be. */
  val Expected = "columns, each with ASC or DESC behind it or nothing, such as 'a, b DESC'"

  /** The keys in a text such as `a, b.c DESC`, as ORDER BY has them; None if there are none. */
  def listed(text: String): Option[Seq[SortKey]] =
    Try(CatalystSqlParser.parsePlan(s"SELECT 1 ORDER BY $text")).toOption
      .collect { case sort: Sort => sort.order.map(keyOf) }
      .filter(_.forall(_.nonEmpty))
      .map(_.flatten)

  /** One key, from a name as columns of data frames have it, and perhaps a direction. */
  def one(text: String): SortKey = {
    val (name, direction) = text.trim match {
      case Directed(name, direction) => (name, direction)
      case name => (name, "")
    }
    SortKey(UnresolvedAttribute.parseAttributeName(name), direction.equalsIgnoreCase(Desc))
  }

  private val Directed = raw"(?is)(.*\S)\s+(asc|desc)".r

  private def keyOf(order: SortOrder): Option[SortKey] = order.child match {
    case column: UnresolvedAttribute if order.nullOrdering == order.direction.defaultNullOrdering =>
      Some(SortKey(column.nameParts, order.direction == Descending))
    case _ => None
  }
}
