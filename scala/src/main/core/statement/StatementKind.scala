package io.deltaupkeep.statement

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent, Switch}

/**
 * What statements of a kind do. All have the same shape: options, plan, execute, result rows. A dry run returns the
 * plan and changes nothing.
 *
 * @param name   as a user types it
 * @param intent what the features of a table have to allow
 * @tparam R the case class of a result row
 */
private[deltaupkeep] abstract class StatementKind[R <: Product](
    val name: String,
    intent: Intent,
    val schema: ResultSchema[R]
) {

  /** Makes Delta's plan of such a statement from its table; None if Delta lacks it, or one of its clauses. */
  def ofDelta(statement: Statement): Option[LogicalPlan => LogicalPlan] = None

  /** A clause that every statement of the kind has. */
  def fixedClause: Option[String] = None

  /** The words before the columns that a statement names. */
  def columnsClause: String = "ZORDER BY"

  /** Reads the clauses, and does no work. */
  protected def prepare(session: SparkSession, table: DeltaHandle, statement: Statement): Work[R]

  private def open(session: SparkSession, plan: LogicalPlan): DeltaHandle =
    if (Switch.isOn(session)) DeltaHandle.open(session, name, plan, intent)
    else throw Switch.refusalIn(session, name)

  /** Runs it on the table of a plan. */
  final def run(session: SparkSession, plan: LogicalPlan, statement: Statement): StatementRun = {
    val table = open(session, plan)
    val work = prepare(session, table, statement)
    if (statement.dryRun) StatementRun(table.name, Outcome.Planned, work.planned().map(schema.row))
    else {
      val results = work.execute()
      StatementRun(table.name, work.outcomeOf(results), results.map(schema.row))
    }
  }

  /** What it would do to the table of a plan, in words, for EXPLAIN. */
  final def describe(session: SparkSession, plan: LogicalPlan, statement: Statement): Seq[String] =
    prepare(session, open(session, plan), statement).described

  override def toString: String = name
}

private[deltaupkeep] object StatementKind {

  /** The kinds that Python can name. */
  private val all =
    Seq(
      OptimizeStatement,
      CheckpointStatement,
      CleanupLogStatement,
      VacuumStatement,
      AnalyzeStatement,
      FsckStatement,
      HealthStatement,
      MaintainStatement
    )

  def named(name: String): StatementKind[_ <: Product] =
    all.find(_.name == name).getOrElse(
      throw new NoSuchElementException(s"$name is not one of ${all.mkString(", ")}")
    )
}

/** What a statement did to a table, and its result. */
private[statement] final case class StatementRun(table: String, outcome: Outcome, rows: Seq[Row])

/** A statement on an open table. */
private[statement] trait Work[R] {
  def described: Seq[String]
  def planned(): Seq[R]
  def execute(): Seq[R]

  /** How an execution with these results ended. */
  def outcomeOf(results: Seq[R]): Outcome
}
