package io.deltaupkeep.sql.parser

import scala.jdk.CollectionConverters._

import io.deltaupkeep.sql.parser.UpkeepSqlBaseParser._
import io.deltaupkeep.statement._

import org.antlr.v4.runtime.ParserRuleContext
import org.antlr.v4.runtime.misc.Interval
import org.antlr.v4.runtime.tree.TerminalNode

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

/** Makes the plan of a statement from its parse tree. Names are read by Spark's parser, by its rules. */
private[deltaupkeep] final class UpkeepAstBuilder(delegate: ParserInterface)
    extends UpkeepSqlBaseBaseVisitor[LogicalPlan] {

  override def visitSingleStatement(context: SingleStatementContext): LogicalPlan =
    withOrigin(context)(visit(context.statement()))

  override def visitRun(context: RunContext): LogicalPlan = visit(context.maintenance())

  override def visitExplain(context: ExplainContext): LogicalPlan =
    ExplainMaintenanceCommand(visit(context.maintenance()), explainMode(context))

  override def visitOptimize(context: OptimizeContext): LogicalPlan =
    OptimizeCommand(target("OPTIMIZE", context.target()), optimizeClauses(context.optimizeClauses()))

  override def visitCheckpoint(context: CheckpointContext): LogicalPlan =
    CheckpointCommand(
      target("CHECKPOINT", context.target()),
      context.dryRun() != null,
      options(context.optionList())
    )

  override def visitCleanupLog(context: CleanupLogContext): LogicalPlan =
    CleanupLogCommand(
      target("CLEANUP LOG", context.target()),
      Option(context.retain()).map(retain => source(retain.number())),
      context.dryRun() != null,
      options(context.optionList())
    )

  override def visitDescribeHealth(context: DescribeHealthContext): LogicalPlan =
    DescribeHealthCommand(target("DESCRIBE HEALTH", context.target()))

  override def visitMaintain(context: MaintainContext): LogicalPlan =
    MaintainCommand(
      target("MAINTAIN", context.target()),
      context.dryRun() != null,
      options(context.optionList())
    )

  def optimizeClauses(context: OptimizeClausesContext): OptimizeClauses = OptimizeClauses(
    full = context.FULL() != null,
    where = Option(context.predicate()).map(source).toSeq,
    zOrderBy = Option(context.zorderBy()).toSeq.flatMap(_.columns.asScala).map(name),
    dryRun = context.dryRun() != null,
    options = options(context.optionList())
  )

  private def explainMode(context: ExplainContext): ExplainMode =
    if (context.EXTENDED() != null) ExtendedMode
    else if (context.CODEGEN() != null) CodegenMode
    else if (context.COST() != null) CostMode
    else if (context.FORMATTED() != null) FormattedMode
    else SimpleMode

  private def target(statement: String, context: TargetContext): UnresolvedTarget =
    if (context.path != null) UnresolvedTarget.path(statement, string(context.STRING()))
    else UnresolvedTarget.name(statement, name(context.table))

  private def name(context: MultipartNameContext): Seq[String] =
    delegate.parseMultipartIdentifier(source(context))

  private def options(context: OptionListContext): Seq[(String, String)] =
    Option(context).toSeq.flatMap(_.optionEntry().asScala).map { option =>
      val key = Option(option.key.STRING()).fold(name(option.key.multipartName()).mkString("."))(string)
      val value = Option(option.value.STRING()).fold(source(option.value))(string)
      key -> value
    }

  private def string(node: TerminalNode): String = unescapeSQLString(node.getText)

  /** The text of a rule as the user typed it. */
  private def source(context: ParserRuleContext): String =
    context.getStart.getInputStream.getText(
      Interval.of(context.getStart.getStartIndex, context.getStop.getStopIndex)
    )
}
