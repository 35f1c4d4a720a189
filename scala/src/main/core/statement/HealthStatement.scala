package io.deltaupkeep.statement

import io.deltaupkeep.health.{HealthCheck, HealthFacts, HealthResult}
import io.deltaupkeep.maintain.{CheckpointStep, StepInput, StepOptions}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.health.{FileCensus, FileSampler, LogFacts, OrphanSearch}
import org.apache.spark.sql.delta.upkeep.hook.CheckpointWorker
import org.apache.spark.sql.delta.upkeep.optimize.{Clustering, TableOptimize}
import org.apache.spark.sql.delta.upkeep.metrics.Outcome
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}

/** `DESCRIBE HEALTH t`. One row for each check. */
private[deltaupkeep] object HealthStatement
    extends StatementKind("DESCRIBE HEALTH", Intent.Read, ResultSchema.health) {

  override protected def prepare(
      session: SparkSession,
      table: DeltaHandle,
      statement: Statement
  ): Work[HealthResult] = new Work[HealthResult] {
    override def described: Seq[String] = Seq(
      "reads the snapshot, the listings of the log and of the table's directory, and some footers and pages; writes nothing"
    )
    override def planned(): Seq[HealthResult] = execute()
    override def execute(): Seq[HealthResult] = HealthCheck.of(factsOf(table))
    override def outcomeOf(results: Seq[HealthResult]): Outcome = Outcome.Done
  }

  private def factsOf(table: DeltaHandle): HealthFacts = {
    val input = new StepInput(table, StepOptions(name), table.now)
    val log = new LogFacts(table)
    // All that is asked of a small log is found in one pass.
    val optimize =
      TableOptimize.ofAllOrCompaction(table, whole = FileCensus.isSmall(table))
    val census = FileCensus.of(table, optimize.selected)
    val sampler = new FileSampler(table, census.some)
    HealthFacts(
      table.facts,
      census.files,
      optimize.plan,
      sampler.footers,
      sampler.codecs,
      Clustering.of(table, optimize.selected, optimize.request.layout)
        .flatMap(_.quality(new FileSampler(table, _).rowGroups)),
      census.withoutStatistics,
      new OrphanSearch(table).run(optimize.selected),
      input.cleanup.plan,
      log.newestCheckpoint,
      input.since,
      CheckpointStep.reason(input),
      log.loadCost,
      CheckpointWorker.lastOutcome(table),
      input.now
    )
  }
}
