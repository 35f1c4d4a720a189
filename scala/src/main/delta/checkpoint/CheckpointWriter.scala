package org.apache.spark.sql.delta.upkeep.checkpoint

import scala.collection.mutable
import scala.util.control.NonFatal

import io.deltaupkeep.{ByteText, Uninterrupted, UpkeepConf, UpkeepErrors}
import io.deltaupkeep.log.{LogDirectory, LogFile, LogFileKind}
import io.deltaupkeep.plan.checkpoint._

import org.apache.spark.sql.delta.{LastCheckpointInfo, V2Checkpoint}
import org.apache.spark.sql.delta.upkeep.read.{
  CheckpointPointer,
  CheckpointSchema,
  DamagedCheckpoints,
  ListedLog,
  Wholeness
}
import org.apache.spark.sql.delta.upkeep.state.LogReplay
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, SessionCopy}
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType

/**
 * Writes checkpoints: built on the last one if the plan says so, otherwise from the whole state of the table.
 */
final class CheckpointWriter(handle: DeltaHandle) {

  private val snapshot = handle.snapshot

  private lazy val session = SessionCopy.of(handle.session) { conf =>
    // The number of partitions is the number of files.
    conf.setConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED, false)
    // Values of partitions and bounds stay as they are in the log, whatever the session does with old dates and with digits.
    conf.setConfString(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key, "CORRECTED")
    conf.setConfString(SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key, "CORRECTED")
    if (conf.parquetOutputTimestampType == ParquetOutputTimestampType.TIMESTAMP_MILLIS)
      conf.setConfString(
        SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key,
        ParquetOutputTimestampType.TIMESTAMP_MICROS.toString
      )
  }
  private def sqlConf = session.sessionState.conf
  private lazy val checkpointSchema = new CheckpointSchema(session, snapshot)
  private lazy val parts = new PartWriter(handle, session, checkpointSchema)
  private lazy val log = new ReadableLog(handle)
  private lazy val damaged = new DamagedCheckpoints(handle)
  private val pointer = new CheckpointPointer(handle)

  /**
   * Approximate number of adds and tombstones of this version: the files that its checksum counts, or more if
   * the bytes of the log show that there must be tombstones. Nothing is replayed.
   */
  private def fileActions: Long = {
    val readable = log.snapshot
    def byBytes(ofCommit: Long, ofCheckpoint: Long): Long =
      readable.deltaFileSizeInBytes() / ofCommit + readable.checkpointSizeInBytes() / ofCheckpoint
    snapshot.checksumOpt match {
      case Some(checksum) => math.max(checksum.numFiles, byBytes(ofCommit = 2048, ofCheckpoint = 256))
      case None => byBytes(ofCommit = 512, ofCheckpoint = 64)
    }
  }

  /**
   * The checkpoints of this version. Lists the log from that version on, and reads the footers of the
   * checkpoints.
   */
  private def foundCheckpoints: FoundCheckpoints = {
    val version = snapshot.version
    val files = ListedLog
      .between(snapshot.deltaLog.store, handle.logPath, handle.hadoopConf, version, version)
      .filter(FileNames.isCheckpointFile)
      .map(file => LogFile(LogDirectory.Root, file.getPath.getName, file.getLen, file.getModificationTime))
      .toSeq
    val found = CheckpointPlanner.complete(files, snapshot.version).map(set => set -> damaged.check(set))
    val whole = found.collect { case (set, Wholeness.Whole) => set }
    FoundCheckpoints(
      whole,
      found.collect {
        case (set, Wholeness.Damaged(why, _)) => DamagedCheckpoint(set.map(_.name), why)
        // Otherwise the new one, which has the same name, would be taken for the work of a slower driver.
        case (set, Wholeness.Unproved(why)) if whole.isEmpty && set.exists(isClassic) =>
          DamagedCheckpoint(set.map(_.name), why)
      }
    )
  }

  private def isClassic(file: LogFile): Boolean = file.kind match {
    case _: LogFileKind.V2Checkpoint => false
    case _ => true
  }

  private val bases = mutable.Map.empty[Policy, Either[String, CheckpointBase]]

  private def baseOf(policy: Policy): Either[String, CheckpointBase] =
    bases.getOrElseUpdate(
      policy,
      session.withActive {
        try CheckpointBase.of(handle, policy, checkpointSchema, log)
        catch { case NonFatal(e) => Left(log.flaw.getOrElse(throw e)) }
      }
    )

  /**
   * What a checkpoint of a policy can build on, or why there is nothing. Reads the commits since the last
   * one.
   */
  private def base(policy: Policy): Either[String, Base] =
    baseOf(policy).map(last => Base(last.fragments, last.tail.fileActions.size.toLong))

  /** What would be written for a request. */
  def plan(request: CheckpointRequest): CheckpointPlan = {
    val layout = CheckpointPlanner.layout(handle.facts, request)
    val found = foundCheckpoints
    CheckpointPlanner.existing(layout, found) match {
      case Some(existing) => CheckpointPlanner.notNeeded(layout, existing, pointer.version)
      case None =>
        val from = CheckpointPlanner.whyFull(layout, found).toLeft(layout.policy).flatMap(base)
        CheckpointPlanner.toWrite(layout, found, from.left.map(FullFacts(_, fileActions, replay)))
    }
  }

  /** Where a full checkpoint would find the state. */
  private def replay: Replay = {
    val bytes = log.snapshot.logSegment.deltas.map(_.getLen).sum
    val most = sqlConf.getConf(UpkeepConf.CheckpointDriverBytes)
    if (!log.snapshot.checkpointProvider.isEmpty) Replay.AsJob("it reads the last checkpoint")
    else if (bytes > most)
      Replay.AsJob(s"the commits take ${ByteText.of(bytes)}, more than ${ByteText.of(most)}")
    else if (checkpointSchema.hasVariantStatistics)
      Replay.AsJob("statistics of variants are read by a query")
    else Replay.OnDriver
  }

  /** Makes `_last_checkpoint` name the existing checkpoint. */
  def mendPointer(): Unit = session.withActive(pointer.mend())

  /**
   * Writes the checkpoint, and `_last_checkpoint` after all its files.
   *
   * @throws io.deltaupkeep.UpkeepException `CHECKPOINT_MISMATCH`: it would hold other files than the table;
   *                                        `TABLE_REPLACED`: the table was dropped meanwhile. Nothing is
   *                                        published.
   */
  def write(plan: CheckpointPlan): WrittenCheckpoint = session.withActive {
    val temporary = new TemporaryFiles(handle)
    val below = new CommitBelow(handle)
    // A write would bring the directories of a dropped table back.
    below.require()
    val (contents, info) =
      try {
        val contents = collect(plan, temporary)
        verify(contents)
        DeltaApi.current.publishCommits(snapshot, handle.table.catalogTable)
        (contents, Uninterrupted(publish(plan, contents, temporary)))
      } catch {
        case NonFatal(e) =>
          temporary.deleteAll()
          below.deleteEmptyLog()
          throw e
      }
    Uninterrupted {
      temporary.delete()
      pointer.write(info)
      plan.damaged.foreach(damaged.delete(_, info))
    }
    WrittenCheckpoint(
      numActions = info.size,
      numAddFiles = contents.adds,
      parts = if (plan.policy == Policy.V2) contents.fragments.size else plan.build.parts,
      sizeInBytes = info.sizeInBytes.getOrElse(0L)
    )
  }

  /** Writes the parts of a checkpoint that the plan does not keep. */
  private def collect(plan: CheckpointPlan, temporary: TemporaryFiles): CheckpointContents = {
    val kind = partKindOf(plan, temporary)
    plan.build match {
      case build: Build.Incremental => onLastCheckpoint(plan, build, kind)
      case build: Build.Full if build.replay == Replay.OnDriver => fromCommitsOnDriver(plan, kind)
      case build: Build.Full => fromStateAsJob(build, kind)
      case _: Build.NotNeeded => throw new IllegalStateException("There is nothing to write")
    }
  }

  private def partKindOf(plan: CheckpointPlan, temporary: TemporaryFiles): PartKind = plan.policy match {
    case Policy.V2 => PartKind.Sidecar
    case Policy.Classic if plan.build.parts > 1 => PartKind.AllActions(temporary)
    case Policy.Classic => PartKind.RowGroups(temporary)
  }

  private def onLastCheckpoint(
      plan: CheckpointPlan,
      build: Build.Incremental,
      kind: PartKind
  ): CheckpointContents = {
    val last = baseOf(plan.policy).fold(why => throw new IllegalStateException(why), identity)
    val kept = build.fragments.kept.map(fragment => fragment -> last.file(fragment))
    val sources =
      if (build.newFragments == 0) Nil
      else last.sources(build.fragments.replaced, session, checkpointSchema)
    val others = last.tail.nonFileActions
    val written = parts.write(kind, plan.layout.fragmentSize, sources, others)
    CheckpointContents(kept ++ written.fragments, others, isOneFile = false)
  }

  private def fromCommitsOnDriver(plan: CheckpointPlan, kind: PartKind): CheckpointContents = {
    val replay = new DriverReplay(handle, session, checkpointSchema, log.snapshot)
    val written = replay.write(parts, kind, plan.layout.fragmentSize)
    CheckpointContents(written.fragments, written.others, isOneFile = plan.policy == Policy.Classic)
  }

  private def fromStateAsJob(build: Build.Full, kind: PartKind): CheckpointContents = {
    val state = new LogReplay(session, log.snapshot).actions(build.newFragments)
    val written = parts.write(state, kind, build.actions / build.newFragments)
    // The job leaves the other actions out of row groups.
    val ofOthers =
      if (kind.isRowGroups) parts.write(kind, written.others.size.toLong, Nil, written.others).fragments
      else Nil
    CheckpointContents(written.fragments ++ ofOthers, written.others, isOneFile = false)
  }

  private def verify(contents: CheckpointContents): Unit =
    snapshot.checksumOpt.foreach { checksum =>
      val (holds, expected) =
        ((contents.adds, contents.addBytes), (checksum.numFiles, checksum.tableSizeBytes))
      if (holds != expected)
        throw UpkeepErrors.checkpointMismatch(handle.name, snapshot.version, holds, expected)
    }

  private def publish(
      plan: CheckpointPlan,
      contents: CheckpointContents,
      temporary: TemporaryFiles
  ): LastCheckpointInfo = {
    val publisher =
      new CheckpointPublisher(handle, session, checkpointSchema, plan.damaged.flatMap(_.files).toSet)
    plan.policy match {
      case Policy.V2 => publisher.v2(contents, plan.format)
      case Policy.Classic if plan.build.parts > 1 => publisher.multiPart(contents, temporary)
      case Policy.Classic => publisher.classic(contents, temporary)
    }
  }
}

private[upkeep] object CheckpointWriter {

  def deltaFormat(format: TopLevelFormat): V2Checkpoint.Format = format match {
    case TopLevelFormat.Json => V2Checkpoint.Format.JSON
    case TopLevelFormat.Parquet => V2Checkpoint.Format.PARQUET
  }
}
