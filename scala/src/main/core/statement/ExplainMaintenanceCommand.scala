package io.deltaupkeep.statement

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{CommandExecutionMode, ExplainMode}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.StringType

/** EXPLAIN of a statement of Delta Upkeep: Spark's plans, then what the statement would do to the table. */
private[deltaupkeep] final case class ExplainMaintenanceCommand(maintenance: LogicalPlan, mode: ExplainMode)
    extends LeafRunnableCommand {

  override val output: Seq[Attribute] = Seq(AttributeReference("plan", StringType, nullable = true)())

  override def run(session: SparkSession): Seq[Row] = {
    val execution = session.sessionState.executePlan(maintenance, CommandExecutionMode.SKIP)
    val planned = execution.analyzed.collectFirst { case command: UpkeepCommand =>
      command.describe(session).mkString("== Maintenance Plan ==\n", "\n", "\n")
    }
    Seq(Row(execution.explainString(mode) + planned.getOrElse("")))
  }
}
