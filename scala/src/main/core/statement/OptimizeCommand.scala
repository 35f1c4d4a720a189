package io.deltaupkeep.statement

import io.deltaupkeep.plan.compact.{LayoutChoice, OptimizeResult, OptimizeSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeDefaults, OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.table.{DeltaRefusals, Intent}

/** `OPTIMIZE t [FULL] [WHERE p] [ZORDER BY (c, ...)] [DRY RUN] [OPTIONS (k = v, ...)]`. One result row. */
private[deltaupkeep] final case class OptimizeCommand(child: LogicalPlan, clauses: OptimizeClauses)
    extends UpkeepCommand(ResultSchema.optimize) {

  override def statement: String = "OPTIMIZE"

  override protected def clauseTexts: Seq[String] = Seq(
    Option.when(clauses.full)("FULL"),
    clauses.whereText,
    Option.when(clauses.zOrderBy.nonEmpty)(clauses.zOrderBy.map(_.mkString(".")).mkString(
      "ZORDER BY (",
      ", ",
      ")"
    )),
    UpkeepCommand.dryRunText(clauses.dryRun),
    UpkeepCommand.optionsText(clauses.options)
  ).flatten

  override protected def results(session: SparkSession): Seq[OptimizeResult] = {
    val optimize = prepare(session)
    Seq(if (clauses.dryRun) optimize.planned() else optimize.execute())
  }

  override def describe(session: SparkSession): Seq[String] = prepare(session).plan.describe

  private def prepare(session: SparkSession): TableOptimize = {
    val table = open(session, Intent.Reorganize)
    val options = checked(clauses.options, OptimizeSettings.entries)
    val settings = OptimizeSettings(options, OptimizeDefaults.of(table))
    val resolver = session.sessionState.conf.resolver
    val request = new DeltaRefusals(table, clauses.where, clauses.zOrderBy).asCauses {
      val layout = new LayoutChoice(table.facts, resolver)
        .of(clauses.full, clauses.where.nonEmpty, clauses.zOrderBy)
      val predicate = clauses.where.map {
        PartitionPredicate.parse(session.sessionState.sqlParser, resolver, table.facts, _)
      }
      OptimizeRequest(layout, predicate)
    }
    TableOptimize(table, request, settings)
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeCommand = copy(child = newChild)
}
