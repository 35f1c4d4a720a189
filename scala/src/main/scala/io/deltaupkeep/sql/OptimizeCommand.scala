package io.deltaupkeep.sql

import io.deltaupkeep.{ByteText, CountText, UpkeepErrors}
import io.deltaupkeep.optimize.{
  Bin,
  CommitOutcome,
  Layout,
  OptimizePlan,
  OptimizePlanner,
  OptimizeResult,
  OptimizeSettings,
  RowGroupCounts
}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeDefaults, OptimizeTransaction}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/** `OPTIMIZE t [FULL] [WHERE p] [ZORDER BY (c, ...)] [DRY RUN] [OPTIONS (k = v, ...)]`. One result row. */
private[sql] final case class OptimizeCommand(child: LogicalPlan, clauses: OptimizeClauses)
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

  override def describe(session: SparkSession): Seq[String] = {
    val plan = prepare(session).plan
    s"bins: ${plan.bins.size}, files: ${plan.files.size} of ${plan.considered.size}" +:
      plan.bins.map { bin =>
        s"${CountText.of(bin.files.size, "file")}, ${ByteText.of(bin.sizeInBytes)} ${bin.partition.text} " +
          s"(${bin.tier.name}: ${bin.tier.reason})"
      }
  }

  private def prepare(session: SparkSession): Optimize = {
    val table = open(session, Intent.Reorganize)
    val options = checked(clauses.options, OptimizeSettings.entries)
    Optimize(session, table, clauses, OptimizeSettings(options, OptimizeDefaults.of(table)))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeCommand = copy(child = newChild)
}

/** One OPTIMIZE: what it will do, and doing it. */
private[sql] final case class Optimize(
    session: SparkSession,
    table: DeltaHandle,
    clauses: OptimizeClauses,
    settings: OptimizeSettings
) {

  private val facts = table.facts

  private lazy val transaction: OptimizeTransaction = {
    val parser = session.sessionState.sqlParser
    val resolver = session.sessionState.conf.resolver
    val predicate = clauses.where.map(PartitionPredicate.parse(parser, resolver, facts, _))
    new OptimizeTransaction(table, predicate)
  }

  lazy val plan: OptimizePlan = layout match {
    case Layout.Compact => OptimizePlanner.compact(transaction.files, settings, transaction.needsRows)
    case Layout.ZOrder(columns) => OptimizePlanner.zOrder(transaction.files, settings, columns)
    case cluster: Layout.Cluster =>
      OptimizePlanner.cluster(transaction.files, transaction.clusteringGroups(cluster), settings, cluster)
  }

  def planned(): OptimizeResult = {
    val (tiered, rowGroups) =
      if (plan.isEmpty) (plan, Map.empty[Bin, RowGroupCounts]) else transaction.preview(plan)
    OptimizeResult.planned(facts.path, tiered, rowGroups, System.currentTimeMillis())
  }

  def execute(): OptimizeResult = {
    val startedAt = System.currentTimeMillis()
    val outcome =
      if (plan.isEmpty) CommitOutcome.nothingToDo
      else {
        table.requireWritableLog("OPTIMIZE")
        run(plan, Optimize.MaxReplans)
      }
    OptimizeResult.executed(
      facts.path,
      plan,
      outcome,
      settings.verify,
      startedAt,
      System.currentTimeMillis()
    )
  }

  /**
   * Bins that another writer overtook are planned anew on the table as it is then, a few times: a table that is
   * rewritten faster than it can be compacted is better left alone.
   */
  private def run(plan: OptimizePlan, replans: Int): CommitOutcome = {
    val outcome = transaction.execute(plan, settings)
    if (outcome.lost.isEmpty || replans == 0 || layout != Layout.Compact) outcome
    else {
      val partitions = outcome.lost.map(_.partition).toSet
      val later = copy(table = table.updated("OPTIMIZE", Intent.Reorganize))
      val again = later.plan.copy(bins = later.plan.bins.filter(bin => partitions(bin.partition)))
      if (again.isEmpty) outcome else outcome ++ later.run(again, replans - 1)
    }
  }

  private def layout: Layout = {
    if (facts.isClustered) {
      if (clauses.where.nonEmpty) throw UpkeepErrors.clusteredTable("WHERE", facts.name)
      if (clauses.zOrderBy.nonEmpty) throw UpkeepErrors.clusteredTable("ZORDER BY", facts.name)
    }
    if (clauses.full && facts.clusteringColumns.isEmpty) throw UpkeepErrors.fullNeedsClustering(facts.name)
    if (facts.clusteringColumns.nonEmpty) Layout.Cluster(facts.clusteringColumns, clauses.full)
    else if (clauses.zOrderBy.nonEmpty) {
      clauses.zOrderBy.foreach(checkZOrderColumn)
      transaction.checkZOrderColumns(clauses.zOrderBy)
      Layout.ZOrder(clauses.zOrderBy.map(Optimize.columnName))
    } else Layout.Compact
  }

  private def checkZOrderColumn(nameParts: Seq[String]): Unit = {
    val resolver = session.sessionState.conf.resolver
    val column = nameParts.mkString(".")
    if (facts.partitionColumns.exists(resolver(_, column)))
      throw UpkeepErrors.zOrderColumn(
        column,
        facts.name,
        "Its files hold one value of a partition column each."
      )
    if (!facts.columns.exists(name => resolver(name, column) || resolver(name, nameParts.head)))
      throw UpkeepErrors.zOrderColumn(column, facts.name, "The table has no such column.")
  }
}

private object Optimize {
  private val MaxReplans = 3

  /** As Spark reads it of a data frame: `a.b` is the field b of a, and a column of that name has backticks. */
  private def columnName(nameParts: Seq[String]): String = nameParts
    .map(part => if (part.exists(".`".contains(_))) QuotingUtils.quoteIdentifier(part) else part)
    .mkString(".")
}
