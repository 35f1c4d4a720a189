package io.deltaupkeep.statement

import io.deltaupkeep.{TableFacts, UpkeepErrors}

import org.apache.spark.sql.catalyst.analysis.{Resolver, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}

/** The predicate of an OPTIMIZE: an expression over partition columns. */
private[statement] object PartitionPredicate {

  /**
   * @throws io.deltaupkeep.UpkeepException `INVALID_PREDICATE`, `SUBQUERY_IN_PREDICATE`, `MISSING_COLUMN`,
   *                         `NON_PARTITION_COLUMN`
   */
  def parse(parser: ParserInterface, resolver: Resolver, table: TableFacts, text: String): Expression = {
    val expression =
      try parser.parseExpression(text)
      catch { case e: ParseException => throw UpkeepErrors.invalidPredicate(text, e) }
    if (SubqueryExpression.hasSubquery(expression)) throw UpkeepErrors.subqueryInPredicate(text)
    expression.references.foreach { reference =>
      val column = reference match {
        case unresolved: UnresolvedAttribute => unresolved.nameParts
        case other => Seq(other.name)
      }
      checkColumn(column, resolver, table)
    }
    expression
  }

  private def checkColumn(nameParts: Seq[String], resolver: Resolver, table: TableFacts): Unit = {
    val column = nameParts.mkString(".")
    if (!table.partitionColumns.exists(resolver(_, column))) {
      val inTable = table.columns.exists(c => resolver(c, column) || resolver(c, nameParts.head))
      throw if (inTable) UpkeepErrors.nonPartitionColumn(column, table.name, table.partitionColumns)
      else UpkeepErrors.missingColumn(column, table.name, table.partitionColumns)
    }
  }
}
