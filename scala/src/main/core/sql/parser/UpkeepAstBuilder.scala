package io.deltaupkeep.sql.parser

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.cluster.SortKey
import io.deltaupkeep.plan.vacuum.VacuumSettings
import io.deltaupkeep.sql.parser.UpkeepSqlBaseParser._
import io.deltaupkeep.statement._

import org.antlr.v4.runtime.tree.TerminalNode

import org.apache.spark.sql.catalyst.analysis.PlanWithUnresolvedIdentifier
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.parser.ParserUtils.{unescapeSQLString, withOrigin}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{
  CodegenMode,
  CostMode,
  ExplainMode,
  ExtendedMode,
  FormattedMode,
  SimpleMode
}

/**
 * Makes the plan of a statement from its parse tree, which has no parameters. Names and expressions are read by Spark's
 * parser, by its rules.
 */
private[deltaupkeep] final class UpkeepAstBuilder(delegate: ParserInterface)
    extends UpkeepSqlBaseBaseVisitor[LogicalPlan] {

  override def visitSingleStatement(context: SingleStatementContext): LogicalPlan =
    withOrigin(context)(visit(context.statement()))

  override def visitRun(context: RunContext): LogicalPlan = visit(context.maintenance())

  override def visitExplain(context: ExplainContext): LogicalPlan =
    ExplainMaintenanceCommand(visit(context.maintenance()), explainMode(context))

  override def visitOptimize(context: OptimizeContext): LogicalPlan =
    optimize(context.optimizeClauses()).on(target(context.target()))

  override def visitReorg(context: ReorgContext): LogicalPlan =
    Statement(
      ReorgStatement,
      where = Option(context.predicate()).map(Source.of).toSeq,
      dryRun = context.dryRun() != null
    ).on(target(context.target()))

  override def visitCheckpoint(context: CheckpointContext): LogicalPlan =
    Statement(CheckpointStatement, dryRun = context.dryRun() != null, options = options(context.optionList()))
      .on(target(context.target()))

  override def visitCleanupLog(context: CleanupLogContext): LogicalPlan =
    Statement(
      CleanupLogStatement,
      retain = Option(context.retain()).map(retain => Source.of(retain.number())),
      dryRun = context.dryRun() != null,
      options = options(context.optionList())
    ).on(target(context.target()))

  override def visitVacuum(context: VacuumContext): LogicalPlan = {
    val word = Option(context.FULL()).map(_ => "full").orElse(Option(context.LITE()).map(_ => "log"))
    Statement(
      VacuumStatement,
      retain = Option(context.retain()).map(retain => Source.of(retain.number())),
      dryRun = context.dryRun() != null,
      options = word.map(VacuumSettings.ModeOption.name -> _).toSeq ++
        Option(context.usingInventory()).map(VacuumSettings.InventoryOption.name -> inventory(_)) ++
        options(context.optionList())
    ).on(target(context.target()))
  }

  private def inventory(context: UsingInventoryContext): String =
    if (context.table != null) Source.of(context.table) else s"(${Source.of(context.query)})"

  override def visitAnalyze(context: AnalyzeContext): LogicalPlan =
    Statement(
      AnalyzeStatement,
      where = Option(context.predicate()).map(Source.of).toSeq,
      columns = Option(context.forColumns()).toSeq.flatMap(_.columns.asScala).map(name),
      dryRun = context.dryRun() != null,
      options = options(context.optionList())
    ).on(target(context.target()))

  override def visitFsck(context: FsckContext): LogicalPlan =
    Statement(FsckStatement, dryRun = context.dryRun() != null, options = options(context.optionList()))
      .on(target(context.target()))

  override def visitDescribeHealth(context: DescribeHealthContext): LogicalPlan =
    Statement(HealthStatement).on(target(context.target()))

  override def visitMaintain(context: MaintainContext): LogicalPlan =
    Statement(MaintainStatement, dryRun = context.dryRun() != null, options = options(context.optionList()))
      .on(target(context.target()))

  def optimize(context: OptimizeClausesContext): Statement = Statement(
    OptimizeStatement,
    full = context.FULL() != null,
    where = Option(context.predicate()).map(Source.of).toSeq,
    columns = Option(context.zorderBy()).toSeq.flatMap(_.columns.asScala).map(name),
    orderBy = Option(context.orderBy()).toSeq.flatMap(_.keys.asScala).map { key =>
      SortKey(name(key.multipartName()), isDescending = key.DESC() != null)
    },
    dryRun = context.dryRun() != null,
    options = options(context.optionList())
  )

  private def explainMode(context: ExplainContext): ExplainMode =
    if (context.EXTENDED() != null) ExtendedMode
    else if (context.CODEGEN() != null) CodegenMode
    else if (context.COST() != null) CostMode
    else if (context.FORMATTED() != null) FormattedMode
    else SimpleMode

  private def target(context: TargetContext): String => LogicalPlan =
    if (context.path != null) UnresolvedTarget.path(_, string(context.STRING()))
    else if (context.expression() != null) {
      val name = delegate.parseExpression(Source.of(context.expression()))
      statement => new PlanWithUnresolvedIdentifier(name, UnresolvedTarget.name(statement, _))
    } else UnresolvedTarget.name(_, name(context.table))

  private def name(context: MultipartNameContext): Seq[String] =
    delegate.parseMultipartIdentifier(Source.of(context))

  private def options(context: OptionListContext): Seq[(String, String)] =
    Option(context).toSeq.flatMap(_.optionEntry().asScala).map { option =>
      val key = Option(option.key.STRING()).fold(name(option.key.multipartName()).mkString("."))(string)
      val value = Option(option.value.STRING()).fold(Source.of(option.value))(string)
      key -> value
    }

  private def string(node: TerminalNode): String = unescapeSQLString(node.getText)
}
