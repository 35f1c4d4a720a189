package io.deltaupkeep.statement

import io.deltaupkeep.plan.analyze.{AnalyzeResult, AnalyzeSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.analyze.TableAnalyze
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaRefusals, Intent}

/**
 * `ANALYZE TABLE t COMPUTE DELTA STATISTICS [FOR COLUMNS (c, ...)] [WHERE p] [DRY RUN] [OPTIONS (mode, maxBytes)]`. One
 * result row.
 */
private[deltaupkeep] object AnalyzeStatement
    extends StatementKind("ANALYZE", Intent.Reorganize, ResultSchema.analyze) {

  override def columnsClause: String = "FOR COLUMNS"

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[AnalyzeResult] = {
    val settings = AnalyzeSettings(statement.optionsOf(AnalyzeSettings.entries))
    val predicate = new DeltaRefusals(table, Nil).asCauses {
      new WherePredicate(session, table.facts, table.schema).ofPartitions(statement.where).partition
    }
    val analyze = TableAnalyze(table, predicate, statement.columns, settings)
    new Work[AnalyzeResult] {
      override def described: Seq[String] = Seq(analyze.plan.message)
      override def planned(): Seq[AnalyzeResult] = Seq(analyze.planned())
      override def execute(): Seq[AnalyzeResult] = Seq(analyze.execute())
      override def outcomeOf(results: Seq[AnalyzeResult]): Outcome =
        Outcome.doneIf(results.exists(_.version.nonEmpty))
    }
  }
}
