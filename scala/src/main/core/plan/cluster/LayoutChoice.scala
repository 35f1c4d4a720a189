package io.deltaupkeep.plan.cluster

import io.deltaupkeep.{TableFacts, UpkeepErrors, UpkeepException}
import io.deltaupkeep.plan.compact.Layout

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.util.QuotingUtils

/** Chooses what an OPTIMIZE does to the order of rows, as its clauses and the table say. Pure. */
final class LayoutChoice(table: TableFacts, resolver: Resolver) {

  /**
   * @param zOrderBy columns, each by the parts of its name
   * @throws io.deltaupkeep.UpkeepException
   *   `CLUSTERED_TABLE`, `FULL_NEEDS_CLUSTERING`, `ZORDER_COLUMN`, `INVALID_SORT_ORDER`
   */
  def of(
      full: Boolean,
      zOrderBy: Seq[Seq[String]] = Nil,
      orderBy: Seq[SortKey] = Nil
  ): Layout = {
    if (table.isClustered && zOrderBy.nonEmpty) throw UpkeepErrors.clusteredTable("ZORDER BY", table.name)
    if (table.clusteringColumns.nonEmpty) {
      if (orderBy.nonEmpty) throw UpkeepErrors.clusteredTable("ORDER BY", table.name)
      Layout.Cluster(table.clusteringColumns, full)
    } else if (zOrderBy.nonEmpty) {
      zOrderBy.foreach(checkColumn)
      Layout.ZOrder(zOrderBy.map(columnName), full)
    } else if (orderBy.nonEmpty) sort(orderBy, full, property = None)
    else
      table.sortOrder match {
        case Some(text) => sort(text, full)
        case None if full => throw UpkeepErrors.fullNeedsClustering(table.name)
        case None => Layout.Compact
      }
  }

  /** As the table's property says. */
  private def sort(text: String, full: Boolean): Layout = {
    def invalid(why: String) = UpkeepErrors.invalidSortOrder(table.name, text, why)
    val keys = SortKey.listed(text).getOrElse(throw invalid(s"It has to be ${SortKey.Expected}."))
    try sort(keys, full, Some(text))
    catch { case e: UpkeepException => throw invalid(e.text.cause) }
  }

  private def sort(keys: Seq[SortKey], full: Boolean, property: Option[String]): Layout = {
    keys.foreach(key => checkColumn(key.name))
    Layout.Sort(keys.map(_.column), keys.map(_.isDescending), full, property)
  }

  private def checkColumn(nameParts: Seq[String]): Unit = {
    val column = nameParts.mkString(".")
    if (table.partitionColumns.exists(resolver(_, column)))
      throw UpkeepErrors.zOrderColumn(
        column,
        table.name,
        "It is a partition column, so each file holds only one value of it."
      )
    if (!table.columns.exists(name => resolver(name, column) || resolver(name, nameParts.head)))
      throw UpkeepErrors.zOrderColumn(column, table.name, "The table has no such column.")
  }

  /**
   * As Spark reads a column of a data frame: `a.b` is the field b of a; a column with a dot in its name has
   * backticks.
   */
  private def columnName(nameParts: Seq[String]): String = nameParts
    .map(part => if (part.exists(".`".contains(_))) QuotingUtils.quoteIdentifier(part) else part)
    .mkString(".")
}
