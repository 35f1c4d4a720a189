package io.deltaupkeep.statement

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.table.{InputFailures, Switch}
import org.apache.spark.sql.execution.command.RunnableCommand

/** A statement as a Spark plan. The child is its table. */
private[deltaupkeep] final case class UpkeepCommand(child: LogicalPlan, statement: Statement)
    extends RunnableCommand
    with UnaryNode {

  override def nodeName: String = statement.kind.name

  override protected def stringArgs: Iterator[Any] = Iterator(statement.clauses)

  override val output: Seq[Attribute] = statement.kind.schema.attributes

  /** What it would do, in words, for EXPLAIN. */
  def describe(session: SparkSession): Seq[String] = statement.kind.describe(session, child, statement)

  override def run(session: SparkSession): Seq[Row] = {
    val started = System.nanoTime()
    // It is refused in a session that is switched off, and leaves no trace there.
    val ran =
      if (!Switch.isOn(session)) uncounted(session)
      else UpkeepMetrics.statement(session, nodeName).counted[StatementRun](_.outcome)(uncounted(session))
    val milliseconds = (System.nanoTime() - started) / 1000000
    // Spark gives each session tags of its own.
    val tags = session.sparkContext.getJobTags().filterNot(_.startsWith("spark-session-"))
    logInfo(
      s"$nodeName of ${ran.table}: ${ran.outcome.name} in $milliseconds ms" +
        (if (tags.isEmpty) "" else tags.mkString(", tags: ", ", ", ""))
    )
    ran.rows
  }

  private def uncounted(session: SparkSession): StatementRun =
    InputFailures.explained(statement.kind.name, child)(statement.kind.run(session, child, statement))

  override protected def withNewChildInternal(newChild: LogicalPlan): UpkeepCommand = copy(child = newChild)
}
