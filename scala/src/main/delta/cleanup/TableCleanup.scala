package org.apache.spark.sql.delta.upkeep.cleanup

import scala.annotation.tailrec

import io.deltaupkeep.Options
import io.deltaupkeep.log.{CommitTimes, LogFile, LogFileKind, LogListing, SidecarReferences}
import io.deltaupkeep.plan.cleanup.{
  CleanupInput,
  CleanupPlan,
  CleanupPlanner,
  CleanupResult,
  CleanupSettings,
  Cutoff,
  VacuumProgress
}
import io.deltaupkeep.store.{Deletions, LogDeleter}

import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.read.{CheckpointPointer, DeltaLogReader}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.vacuum.{RemovalRecords, VacuumNote}

/** One CLEANUP LOG: its plan, and its execution. `now` in milliseconds since the epoch. */
final case class TableCleanup(table: DeltaHandle, settings: CleanupSettings, now: Long) {

  private val facts = table.facts
  private val fileSystem = table.logPath.getFileSystem(table.hadoopConf)

  /**
   * Holds the whole listing in memory: 30 bytes for a commit or a checksum, 120 for other files of the log.
   */
  lazy val plan: CleanupPlan = {
    val reader = new DeltaLogReader(table)
    val files = LogListing.of(fileSystem, table.logPath)
    val cutoff = Cutoff.timestamp(now, settings.retentionMs, settings.granularity)
    val ownTime = Option.when(facts.inCommitTimestamps)(reader.inCommitTimestamp _)
    val commits = CommitTimes.of(files.iterator)
    planOf(
      CleanupInput(
        files,
        now,
        cutoff,
        Cutoff.commit(commits, cutoff, ownTime),
        sidecarReferences(reader, files),
        facts.checkpointProtectionVersion,
        new CheckpointPointer(table).version,
        Cutoff.commit(commits, now - facts.deletedFileRetentionMs - 1, ownTime),
        vacuumProgress
      ),
      reader
    )
  }

  /**
   * After the cleanup, versions are read from the cutoff checkpoint only, so it must be whole. After
   * `MostPassedOver` checkpoints that are not, older ones are not checked.
   *
   * @param passedOver how many were not whole so far
   */
  @tailrec
  private def planOf(input: CleanupInput, reader: DeltaLogReader, passedOver: Int = 0): CleanupPlan = {
    val plan = CleanupPlanner.plan(input)
    val standsOn = plan.cutoffCheckpoint.filterNot(_ => plan.isEmpty)
    def flawedAt(version: Long): Seq[(LogFile, String)] = for {
      checkpoint <- input.readableCheckpoints(version)
      problem <- reader.flaw(checkpoint).toSeq
      file <- checkpoint.topLevel
    } yield file -> problem
    val flawed =
      if (passedOver < TableCleanup.MostPassedOver) standsOn.toSeq.flatMap(flawedAt)
      else standsOn.toSeq.flatMap(input.checkpointFiles(_)).map(_ -> "it was not checked")
    if (flawed.isEmpty) plan
    else {
      val unreadable = flawed.map { case (file, problem) =>
        file.name -> SidecarReferences.Unreadable(problem)
      }
      planOf(input.copy(sidecarReferences = input.sidecarReferences ++ unreadable), reader, passedOver + 1)
    }
  }

  def files(): Seq[CleanupResult] = plan.verdicts.map(CleanupResult.file(facts.path, _, now))

  def planned(): CleanupResult = CleanupResult.planned(facts.path, plan)

  def execute(): CleanupResult = {
    if (!plan.isEmpty) table.requireWritableLog("CLEANUP LOG")
    if (!plan.isEmpty && mayAddCheckpoint) CompatibilityCheckpoint.write(table)
    val unwritten = plan.unseenByVacuum.filter(_.isKept).flatMap { unseen =>
      new RemovalRecords(table, plan.files).write(unseen.first, unseen.last)
    }
    CleanupResult.totals(facts.path, plan, delete(), unwritten)
  }

  private def delete(): Deletions =
    if (plan.isEmpty) Deletions(0, 0)
    else {
      val deleter = new LogDeleter(fileSystem, table.logPath, facts.name, table.cleanupThreads)
      try deleter.delete(plan.phases)
      finally UpkeepMetrics.of(table).cleanup.deleted(deleter.deleted)
    }

  private def vacuumProgress: VacuumProgress = {
    val lastVersion = VacuumNote.seenVersion(table)
    VacuumProgress(lastVersion, lastVersion.nonEmpty || facts.vacuum.exists(_ != "off"))
  }

  /** checkpointProtection forbids new checkpoints while history before its version is kept. */
  private def mayAddCheckpoint: Boolean =
    facts.checkpointProtectionVersion.forall(version => plan.cutoffCheckpoint.exists(version <= _))

  /**
   * A checkpoint with a classic name may be a v2 checkpoint: if the table has the feature, or if sidecars are
   * left from when it had it.
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

object TableCleanup {

  /** Checking one reads its files. */
  private val MostPassedOver = 20

  /** With the table's own retention; `now` in milliseconds since the epoch. */
  def ofTable(table: DeltaHandle, options: Options, now: Long): TableCleanup =
    TableCleanup(table, CleanupSettings(options, retain = None, table.facts, allowShorter = false), now)
}
