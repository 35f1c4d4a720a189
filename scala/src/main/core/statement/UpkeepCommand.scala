package io.deltaupkeep.statement

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.delta.upkeep.table.InputFailures
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

  override def run(session: SparkSession): Seq[Row] =
    InputFailures.explained(statement.kind.name, child)(statement.kind.run(session, child, statement))

  override protected def withNewChildInternal(newChild: LogicalPlan): UpkeepCommand = copy(child = newChild)
}
