package io.deltaupkeep.plan.compact

import io.deltaupkeep.{TableFacts, UpkeepErrors}

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.util.QuotingUtils

/** Chooses what an OPTIMIZE does to the order of rows, as its clauses and the table say. Pure. */
final class LayoutChoice(table: TableFacts, resolver: Resolver) {

  /**
   * @param zOrderBy columns, each by the parts of its name
   * @throws io.deltaupkeep.UpkeepException `CLUSTERED_TABLE`, `FULL_NEEDS_CLUSTERING`, `ZORDER_COLUMN`
   */
  def of(full: Boolean, hasPredicate: Boolean, zOrderBy: Seq[Seq[String]]): Layout = {
    if (table.isClustered) {
      if (hasPredicate) throw UpkeepErrors.clusteredTable("WHERE", table.name)
      if (zOrderBy.nonEmpty) throw UpkeepErrors.clusteredTable("ZORDER BY", table.name)
    }
    if (full && table.clusteringColumns.isEmpty && zOrderBy.isEmpty)
      throw UpkeepErrors.fullNeedsClustering(table.name)
    if (table.clusteringColumns.nonEmpty) Layout.Cluster(table.clusteringColumns, full)
    else if (zOrderBy.nonEmpty) {
      zOrderBy.foreach(checkZOrderColumn)
      Layout.ZOrder(zOrderBy.map(columnName), full)
    } else Layout.Compact
  }

  private def checkZOrderColumn(nameParts: Seq[String]): Unit = {
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
