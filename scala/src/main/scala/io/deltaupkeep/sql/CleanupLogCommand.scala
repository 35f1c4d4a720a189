package io.deltaupkeep.sql

import io.deltaupkeep.ByteText
import io.deltaupkeep.cleanup._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.upkeep.{DeltaHandle, DeltaLogReader, Intent}

/**
 * `CLEANUP LOG t [RETAIN n HOURS] [DRY RUN] [OPTIONS (granularity)]`. One row of totals; a dry run puts a row
 * for each file before it.
 *
 * @param retain hours as the user wrote them
 */
private[sql] final case class CleanupLogCommand(
    child: LogicalPlan,
    retain: Option[String],
    dryRun: Boolean,
    options: Seq[(String, String)]
) extends UpkeepCommand(ResultSchema.cleanup) {

  override def statement: String = "CLEANUP LOG"

  override protected def clauseTexts: Seq[String] = Seq(
    retain.map(hours => s"RETAIN $hours HOURS"),
    UpkeepCommand.dryRunText(dryRun),
    UpkeepCommand.optionsText(options)
  ).flatten

  override protected def results(session: SparkSession): Seq[CleanupResult] = {
    val cleanup = prepare(session)
    if (dryRun) cleanup.files() :+ cleanup.planned() else Seq(cleanup.execute())
  }

  override def describe(session: SparkSession): Seq[String] = {
    val plan = prepare(session).plan
    plan.message +: plan.totals.map { total =>
      s"${total.verdict.name} ${total.files} files, ${ByteText.of(total.bytes)}: ${total.reason.text}"
    }
  }

  private def prepare(session: SparkSession): CleanupLog = {
    val table = open(session, Intent.CleanLog)
    val settings = CleanupSettings(
      checked(options, CleanupSettings.entries),
      retain,
      table.facts,
      allowShorter = !table.retentionCheckEnabled
    )
    CleanupLog(table, settings, System.currentTimeMillis())
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): CleanupLogCommand =
    copy(child = newChild)
}

/** One CLEANUP LOG: what it will do, and doing it. `now` in milliseconds since the epoch. */
private[sql] final case class CleanupLog(table: DeltaHandle, settings: CleanupSettings, now: Long) {

  private val facts = table.facts
  private val fileSystem = table.logPath.getFileSystem(table.hadoopConf)

  /** Holds the whole listing: 30 bytes for a commit or a checksum, 120 for other files of the log. */
  lazy val plan: CleanupPlan = {
    val reader = new DeltaLogReader(table)
    val files = LogListing.of(fileSystem, table.logPath)
    val cutoff = Cutoff.timestamp(now, settings.retentionMs, settings.granularity)
    val ownTime = Option.when(facts.inCommitTimestamps)(reader.inCommitTimestamp _)
    CleanupPlanner.plan(
      CleanupInput(
        files,
        now,
        cutoff,
        Cutoff.commit(CommitTimes.of(files.iterator), cutoff, ownTime),
        sidecarReferences(reader, files),
        facts.checkpointProtectionVersion
      )
    )
  }

  def files(): Seq[CleanupResult] = plan.verdicts.map(CleanupResult.file(facts.path, _, now))

  def planned(): CleanupResult = CleanupResult.planned(facts.path, plan)

  def execute(): CleanupResult = {
    val deletions =
      if (plan.isEmpty) Deletions(0, 0)
      else {
        UpkeepCommand.requireWritableLog("CLEANUP LOG", table)
        if (mayAddCheckpoint) new DeltaLogReader(table).writeCompatibilityCheckpoint()
        new LogDeleter(fileSystem, table.logPath, facts.name, table.cleanupThreads).delete(plan.phases)
      }
    CleanupResult.totals(facts.path, plan, deletions)
  }

  /** checkpointProtection forbids new checkpoints while history before its version stays. */
  private def mayAddCheckpoint: Boolean =
    facts.checkpointProtectionVersion.forall(version => plan.cutoffCheckpoint.exists(version <= _))

  /**
   * A classic name may hide a checkpoint in the form of the v2 spec: where the table has the feature, and where
   * sidecars are left from the time when it had.
   */
  private def sidecarReferences(
      reader: DeltaLogReader,
      files: IndexedSeq[LogFile]
  ): Map[String, SidecarReferences] = {
    val mayHaveV2Form = facts.supportsV2Checkpoints || files.iterator.exists(_.kind == LogFileKind.Sidecar)
    files.iterator
      .filter(_.sizeInBytes > 0)
      .map(file => file -> file.kind)
      .collect {
        case (file, _: LogFileKind.V2Checkpoint) =>
          file.name -> reader.sidecarReferences(file, uuidNamed = true)
        case (file, _: LogFileKind.ClassicCheckpoint) if mayHaveV2Form =>
          file.name -> reader.sidecarReferences(file, uuidNamed = false)
      }
      .toMap
  }
}
