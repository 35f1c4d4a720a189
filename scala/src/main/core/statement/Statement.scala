package io.deltaupkeep.statement

import io.deltaupkeep.{OptionEntry, Options}
import io.deltaupkeep.plan.cluster.SortKey

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * A request for one table: the same value from SQL and from Python. A kind has only some of the clauses.
 *
 * @param where   conditions that must all be true
 * @param columns of ZORDER BY or FOR COLUMNS, each by the parts of its name
 * @param orderBy columns of ORDER BY
 * @param retain  hours as the user wrote them
 */
private[deltaupkeep] final case class Statement(
    kind: StatementKind[_ <: Product],
    full: Boolean = false,
    where: Seq[String] = Nil,
    columns: Seq[Seq[String]] = Nil,
    orderBy: Seq[SortKey] = Nil,
    retain: Option[String] = None,
    dryRun: Boolean = false,
    options: Seq[(String, String)] = Nil
) {

  /** The plan that runs it. `target` takes the statement's name, for its errors. */
  def on(target: String => LogicalPlan): UpkeepCommand = UpkeepCommand(target(kind.name), this)

  /** Makes Delta's plan of it from its table; None if Delta lacks the statement, or one of its clauses. */
  def ofDelta: Option[LogicalPlan => LogicalPlan] = kind.ofDelta(this)

  /** Whether it has neither DRY RUN nor OPTIONS, which few statements of Delta's have. */
  def isBare: Boolean = !dryRun && options.isEmpty

  /** @throws io.deltaupkeep.UpkeepException `UNKNOWN_OPTION`, `DUPLICATE_OPTION` */
  def optionsOf(entries: Seq[OptionEntry[_]]): Options = new Options(kind.name, options, entries)

  /** The clauses as a user would type them. */
  def clauses: String = Seq(
    Option.when(full)("FULL"),
    whereText,
    Option.when(columns.nonEmpty) {
      columns.map(_.mkString(".")).mkString(s"${kind.columnsClause} (", ", ", ")")
    },
    Option.when(orderBy.nonEmpty)(orderBy.map(_.text).mkString("ORDER BY (", ", ", ")")),
    retain.map(hours => s"RETAIN $hours HOURS"),
    kind.fixedClause,
    Option.when(dryRun)("DRY RUN"),
    Option.when(options.nonEmpty) {
      options.map { case (name, value) => s"$name = '$value'" }.mkString("OPTIONS (", ", ", ")")
    }
  ).flatten.mkString(" ")

  private def whereText: Option[String] = where match {
    case Seq() => None
    case Seq(one) => Some(s"WHERE $one")
    case several => Some(several.map(one => s"($one)").mkString("WHERE ", " AND ", ""))
  }
}
