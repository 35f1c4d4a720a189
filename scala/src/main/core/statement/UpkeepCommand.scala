package io.deltaupkeep.statement

import io.deltaupkeep.{OptionEntry, Options}

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures, Intent}
import org.apache.spark.sql.execution.command.RunnableCommand

/**
 * A statement on one Delta table. All statements have the same shape: options, plan, execute, result rows. A
 * dry run returns the plan and changes nothing.
 *
 * @tparam R the case class of a result row
 */
abstract class UpkeepCommand[R <: Product](schema: ResultSchema[R]) extends RunnableCommand with UnaryNode {

  /** As a user types it, for messages. */
  def statement: String

  /** The clauses as a user would type them, for the plan's text. */
  protected def clauseTexts: Seq[String]

  override def nodeName: String = statement

  override protected def stringArgs: Iterator[Any] = Iterator(clauseTexts.mkString(" "))

  /** The plan in words, for EXPLAIN. */
  def describe(session: SparkSession): Seq[String]

  protected def results(session: SparkSession): Seq[R]

  override val output: Seq[Attribute] = schema.attributes

  override final def run(session: SparkSession): Seq[Row] =
    InputFailures.explained(statement, child)(results(session)).map(schema.row)

  protected def open(session: SparkSession, intent: Intent): DeltaHandle =
    DeltaHandle.open(session, statement, child, intent)

  protected def checked(pairs: Seq[(String, String)], known: Seq[OptionEntry[_]]): Options =
    new Options(statement, pairs, known)
}

private[deltaupkeep] object UpkeepCommand {

  def dryRunText(dryRun: Boolean): Option[String] = Option.when(dryRun)("DRY RUN")

  def optionsText(options: Seq[(String, String)]): Option[String] = Option.when(options.nonEmpty) {
    options.map { case (name, value) => s"$name = '$value'" }.mkString("OPTIONS (", ", ", ")")
  }
}
