package io.deltaupkeep.sql

import io.deltaupkeep.checkpoint.{CheckpointPlan, CheckpointPlanner, CheckpointRequest, CheckpointResult}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.{CheckpointWriter, DeltaHandle, Intent}

/** `CHECKPOINT t [DRY RUN] [OPTIONS (policy, format, partSize, mode)]`. One result row. */
private[sql] final case class CheckpointCommand(
    child: LogicalPlan,
    dryRun: Boolean,
    options: Seq[(String, String)]
) extends UpkeepCommand(ResultSchema.checkpoint) {

  override def statement: String = "CHECKPOINT"

  override protected def clauseTexts: Seq[String] =
    Seq(UpkeepCommand.dryRunText(dryRun), UpkeepCommand.optionsText(options)).flatten

  override protected def results(session: SparkSession): Seq[CheckpointResult] = {
    val checkpoint = prepare(session)
    Seq(if (dryRun) checkpoint.planned() else checkpoint.execute())
  }

  override def describe(session: SparkSession): Seq[String] = {
    val plan = prepare(session).plan
    Seq(
      s"version ${plan.version}, ${plan.policy.name} (${plan.format.name}), " +
        s"parts: ${plan.build.parts}" + plan.build.fileActions.fold("")(n => s", file actions: $n"),
      plan.reason
    )
  }

  private def prepare(session: SparkSession): Checkpoint =
    Checkpoint(
      open(session, Intent.Checkpoint),
      CheckpointRequest(checked(options, CheckpointRequest.entries))
    )

  override protected def withNewChildInternal(newChild: LogicalPlan): CheckpointCommand =
    copy(child = newChild)
}

/** One CHECKPOINT: what it will do, and doing it. */
private[sql] final case class Checkpoint(table: DeltaHandle, request: CheckpointRequest) {

  private val facts = table.facts
  private val writer = new CheckpointWriter(table)

  lazy val plan: CheckpointPlan =
    CheckpointPlanner.plan(
      facts,
      request,
      writer.fileActions,
      writer.checkpointFiles,
      writer.base,
      writer.replay
    )

  def planned(): CheckpointResult = CheckpointResult.planned(facts.path, plan)

  def execute(): CheckpointResult =
    if (plan.isEmpty) CheckpointResult.exists(facts.path, plan)
    else {
      UpkeepCommand.requireWritableLog("CHECKPOINT", table)
      val startedAt = System.nanoTime()
      val written = writer.write(plan)
      CheckpointResult.written(facts.path, plan, written, (System.nanoTime() - startedAt) / 1000000)
    }
}
