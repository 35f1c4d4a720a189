package io.deltaupkeep.statement

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.table.Plans

/** Builds and runs the plans of statements without SQL text, so nothing has to be quoted. */
private[deltaupkeep] final class Statements(session: SparkSession, target: String => UnresolvedTarget) {

  def optimize(
      where: Seq[String],
      zOrderBy: Seq[String],
      full: Boolean,
      dryRun: Boolean,
      options: Seq[(String, String)]
  ): DataFrame = {
    val columns = zOrderBy.map(UnresolvedAttribute.parseAttributeName)
    run(OptimizeCommand(target("OPTIMIZE"), OptimizeClauses(full, where, columns, dryRun, options)))
  }

  def checkpoint(dryRun: Boolean, options: Seq[(String, String)]): DataFrame =
    run(CheckpointCommand(target("CHECKPOINT"), dryRun, options))

  def cleanupLog(retain: Option[String], dryRun: Boolean, options: Seq[(String, String)]): DataFrame =
    run(CleanupLogCommand(target("CLEANUP LOG"), retain, dryRun, options))

  def health(): DataFrame = run(DescribeHealthCommand(target("DESCRIBE HEALTH")))

  def maintain(dryRun: Boolean, options: Seq[(String, String)]): DataFrame =
    run(MaintainCommand(target("MAINTAIN"), dryRun, options))

  private def run(plan: LogicalPlan): DataFrame = Plans.run(session, plan)
}
