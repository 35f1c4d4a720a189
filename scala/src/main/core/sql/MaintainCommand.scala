package io.deltaupkeep.sql

import scala.util.control.NonFatal

import io.deltaupkeep.{CountText, OptionEntry, Options, UpkeepException}
import io.deltaupkeep.plan.checkpoint.{CheckpointDue, CheckpointRequest, CheckpointResult}
import io.deltaupkeep.plan.cleanup.{CleanupResult, CleanupSettings}
import io.deltaupkeep.plan.compact.{LayoutChoice, OptimizeResult, OptimizeSettings}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.health.LogFacts
import org.apache.spark.sql.delta.upkeep.hook.CheckpointWorker
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeDefaults, OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/**
 * A result row of MAINTAIN: one for each step, in the order in which they run.
 *
 * @param path   root of the table
 * @param step   `optimize`, `checkpoint` or `cleanup`
 * @param due    whether there was something to do
 * @param status `done`, `planned` (a dry run), `not due`, or `skipped`: this extension may not do it
 * @param reason of the status
 */
final case class MaintainResult(
    path: String,
    step: String,
    due: Boolean,
    dryRun: Boolean,
    status: String,
    reason: String,
    optimize: Option[OptimizeResult],
    checkpoint: Option[CheckpointResult],
    cleanup: Option[CleanupResult]
)

/** `MAINTAIN t [DRY RUN] [OPTIONS (...)]`: compacts, checkpoints and cleans up, each if it is due. */
private[sql] final case class MaintainCommand(
    child: LogicalPlan,
    dryRun: Boolean,
    options: Seq[(String, String)]
) extends UpkeepCommand(ResultSchema.maintain) {

  override def statement: String = "MAINTAIN"

  override protected def clauseTexts: Seq[String] =
    Seq(UpkeepCommand.dryRunText(dryRun), UpkeepCommand.optionsText(options)).flatten

  private val steps = Seq(OptimizeSettings.entries, CheckpointRequest.entries, CleanupSettings.entries)

  override protected def results(session: SparkSession): Seq[MaintainResult] = run(session, dryRun)

  override def describe(session: SparkSession): Seq[String] =
    run(session, dryRun = true).map(row => s"${row.step}: ${row.status}, ${row.reason}")

  /** Each step works on the newest version, with what the step before or another writer has committed. */
  private def run(session: SparkSession, dryRun: Boolean): Seq[MaintainResult] = {
    checked(options, steps.flatten)
    val opened = open(session, Intent.Checkpoint)
    def newest = if (dryRun) opened else opened.updated(statement, Intent.Checkpoint)
    val optimized = unlessLeftAlone(optimize(session, opened, dryRun))
    if (!dryRun) CheckpointWorker.await(opened)
    def others = Seq(checkpoint(newest, dryRun), cleanup(newest, dryRun))
    optimized match {
      case Right(row) => row +: others
      case Left(left) =>
        try others
        catch { case NonFatal(e) => left.addSuppressed(e) }
        throw left
    }
  }

  /** An error after which the table is as sound as before: the other steps still run, and then it is thrown. */
  private def unlessLeftAlone(step: => MaintainResult): Either[UpkeepException, MaintainResult] =
    try Right(step)
    catch { case e: UpkeepException if MaintainCommand.LeaveFilesAlone(e.name) => Left(e) }

  private def optimize(session: SparkSession, table: DeltaHandle, dryRun: Boolean): MaintainResult = {
    val row = rowOf(table, "optimize", dryRun)
    if (table.facts.catalogManaged) row.skipped("the catalog decides on file rewrites")
    else {
      val layout = new LayoutChoice(table.facts, session.sessionState.conf.resolver)
        .of(full = false, hasPredicate = false, zOrderBy = Nil)
      val settings = OptimizeSettings(optionsOf(OptimizeSettings.entries), OptimizeDefaults.of(table))
      val optimize = TableOptimize(table, OptimizeRequest(layout, predicate = Nil), settings)
      val work = s"${CountText.of(optimize.plan.files.size, "file")} to rewrite"
      if (optimize.plan.isEmpty) row.notDue("no files to rewrite")
      else if (dryRun) row.planned(work).copy(optimize = Some(optimize.planned()))
      else row.done(work).copy(optimize = Some(optimize.execute()))
    }
  }

  private def checkpoint(table: DeltaHandle, dryRun: Boolean): MaintainResult = {
    val row = rowOf(table, "checkpoint", dryRun)
    val checkpoint = TableCheckpoint(table, CheckpointRequest(optionsOf(CheckpointRequest.entries)))
    val log = new LogFacts(table)
    val since = log.sinceCheckpoint(System.currentTimeMillis())
    CheckpointDue.reasonToMaintain(
      table.facts.checkpointLimits,
      since,
      cleanupNeedsOne(table),
      log.namesNewestCheckpoint
    ) match {
      case None => row.notDue(s"${CountText.of(since.commits, "commit")} since the last one")
      case Some(reason) if dryRun => row.planned(reason).copy(checkpoint = Some(checkpoint.planned()))
      case Some(reason) => row.done(reason).copy(checkpoint = Some(checkpoint.execute()))
    }
  }

  private def cleanup(table: DeltaHandle, dryRun: Boolean): MaintainResult = {
    val row = rowOf(table, "cleanup", dryRun)
    if (table.facts.catalogManaged) row.skipped("the catalog decides on log cleanup")
    else if (!table.facts.logCleanupEnabled) row.skipped("delta.enableExpiredLogCleanup is false")
    else {
      val cleanup = cleanupOf(table)
      if (cleanup.plan.isEmpty) row.notDue(cleanup.plan.message)
      else if (dryRun) row.planned(cleanup.plan.message).copy(cleanup = Some(cleanup.planned()))
      else row.done(cleanup.plan.message).copy(cleanup = Some(cleanup.execute()))
    }
  }

  private def cleanupNeedsOne(table: DeltaHandle): Boolean =
    !table.facts.catalogManaged && table.facts.logCleanupEnabled && cleanupOf(table).plan.needsCheckpoint

  private def cleanupOf(table: DeltaHandle): TableCleanup =
    TableCleanup(table, optionsOf(CleanupSettings.entries))

  private def optionsOf(entries: Seq[OptionEntry[_]]): Options =
    checked(options.filter { case (name, _) => entries.exists(_.name.equalsIgnoreCase(name)) }, entries)

  private def rowOf(table: DeltaHandle, step: String, dryRun: Boolean): MaintainStep =
    MaintainStep(table.path, step, dryRun)

  override protected def withNewChildInternal(newChild: LogicalPlan): MaintainCommand = copy(child = newChild)
}

private object MaintainCommand {

  /** Errors of an OPTIMIZE that did not rewrite some files. */
  val LeaveFilesAlone: Set[String] = Set("REWRITE_MISMATCH", "OPTIMIZE_CONFLICT")
}

/** A step whose outcome is still open. */
private final case class MaintainStep(path: String, step: String, dryRun: Boolean) {
  def done(reason: String): MaintainResult = result(due = true, "done", reason)
  def planned(reason: String): MaintainResult = result(due = true, "planned", reason)
  def notDue(reason: String): MaintainResult = result(due = false, "not due", reason)
  def skipped(reason: String): MaintainResult = result(due = false, "skipped", reason)

  private def result(due: Boolean, status: String, reason: String): MaintainResult =
    MaintainResult(path, step, due, dryRun, status, reason, None, None, None)
}
