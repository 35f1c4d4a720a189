package io.deltaupkeep.statement

import io.deltaupkeep.plan.compact.{Layout, OptimizeResult}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeDefaults, OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.table.{DeltaRefusals, Intent}

/** Delta's `REORG TABLE t [WHERE p] APPLY (PURGE)`. One result row. */
private[deltaupkeep] final case class ReorgCommand(child: LogicalPlan, where: Seq[String])
    extends UpkeepCommand(ResultSchema.optimize) {

  override def statement: String = "REORG"

  override protected def clauseTexts: Seq[String] = where.map(text => s"WHERE $text") :+ "APPLY (PURGE)"

  override protected def results(session: SparkSession): Seq[OptimizeResult] =
    Seq(prepare(session).execute())

  override def describe(session: SparkSession): Seq[String] = prepare(session).plan.describe

  private def prepare(session: SparkSession): TableOptimize = {
    val table = open(session, Intent.Reorganize)
    val resolver = session.sessionState.conf.resolver
    val predicate = new DeltaRefusals(table, where, Nil).asCauses {
      where.map(PartitionPredicate.parse(session.sessionState.sqlParser, resolver, table.facts, _))
    }
    val layout = Layout.Purge(oneByOne = table.facts.clusteringColumns.nonEmpty)
    TableOptimize(table, OptimizeRequest(layout, predicate), OptimizeDefaults.of(table))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): ReorgCommand = copy(child = newChild)
}
