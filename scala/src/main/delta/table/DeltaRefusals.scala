package org.apache.spark.sql.delta.upkeep.table

import io.deltaupkeep.{UpkeepErrors, UpkeepException}

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.delta.{DeltaAnalysisException, DeltaErrors, DeltaTableIdentifier}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * Attaches what Delta throws for the same mistake to our errors as their cause, for code that checks for Delta's
 * conditions.
 *
 * @param zOrderBy columns, each by the parts of its name
 */
final class DeltaRefusals(table: DeltaHandle, zOrderBy: Seq[Seq[String]]) {

  /** Checks the clauses of an OPTIMIZE or REORG. */
  def asCauses[T](check: => T): T =
    try check
    catch { case e: UpkeepException => throw causeOf(e).fold(e)(e.causedBy) }

  private def causeOf(e: UpkeepException): Option[Throwable] = {
    def column = e.getMessageParameters.get("column")
    e.name match {
      case "CLUSTERED_TABLE" =>
        Some(DeltaErrors.clusteringWithZOrderByException(zOrderBy.map(UnresolvedAttribute(_))))
      case "FULL_NEEDS_CLUSTERING" => DeltaApi.current.fullRefusal
      case "INVALID_PREDICATE" =>
        Some(DeltaErrors.failedRecognizePredicate(e.getMessageParameters.get("predicate"), e.getCause))
      case "SUBQUERY_IN_PREDICATE" => Some(DeltaErrors.unsupportSubqueryInPartitionPredicates())
      case "MISSING_COLUMN" | "NON_PARTITION_COLUMN" =>
        Some(DeltaErrors.nonPartitionColumnReference(column, table.facts.partitionColumns))
      case "ZORDER_COLUMN" if partitions(column) =>
        Some(DeltaErrors.zOrderingOnPartitionColumnException(column))
      case "ZORDER_COLUMN" => Some(DeltaErrors.zOrderingColumnDoesNotExistException(column))
      case _ => None
    }
  }

  private def partitions(column: String): Boolean =
    table.facts.partitionColumns.exists(table.session.sessionState.conf.resolver(_, column))
}

private[upkeep] object DeltaRefusals {

  /** Runs Delta's check of a column of ZORDER BY. */
  def ofZOrder(nameParts: Seq[String], table: String)(check: => Unit): Unit =
    try check
    catch {
      case refused: DeltaAnalysisException =>
        val cause = SparkApi.condition(refused) match {
          case "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS" =>
            "Delta collects no statistics for it, so no query could skip files by it."
          case "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST" => "The table has no such column."
          case _ => s"${refused.getMessage.stripSuffix(".")}."
        }
        throw UpkeepErrors.zOrderColumn(nameParts.mkString("."), table, cause).causedBy(refused)
    }

  def notADeltaTable(statement: String, table: String): UpkeepException =
    UpkeepErrors.notADeltaTable(statement, table, DeltaErrors.notADeltaTableException(statement))

  /** @param resolved what a relative path means in this session */
  def notADeltaTable(
      statement: String,
      table: String,
      path: String,
      resolved: Option[String]
  ): UpkeepException = {
    val thrown = DeltaErrors.notADeltaTableException(statement, DeltaTableIdentifier(Some(path)))
    resolved match {
      case Some(location) => UpkeepErrors.notADeltaTableAt(statement, table, location, thrown)
      case None => UpkeepErrors.notADeltaTable(statement, table, thrown)
    }
  }
}
