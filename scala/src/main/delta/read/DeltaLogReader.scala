package org.apache.spark.sql.delta.upkeep.read

import scala.util.{Failure, Success, Try, Using}
import scala.util.control.NonFatal

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.log.{FoundCheckpoint, LogDirectory, LogFile, SidecarReferences}

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.delta.{DeltaHistoryManager, DeltaLogFileIndex}
import org.apache.spark.sql.delta.actions.{
  Action,
  CheckpointMetadata,
  DomainMetadata,
  SetTransaction,
  SidecarFile
}
import org.apache.spark.sql.delta.upkeep.table.{DamagedAction, DeltaHandle, InputFailures}
import org.apache.spark.sql.delta.util.FileNames

/** Reads single files of the log through Delta's own readers. */
final class DeltaLogReader(handle: DeltaHandle) extends Logging {

  private val deltaLog = handle.snapshot.deltaLog
  private val conf = handle.hadoopConf
  private lazy val whole = new WholeCheckpoint(handle)
  private val OtherActions = Seq("\"txn\"", "\"domainMetadata\"")

  /**
   * The time that a commit itself carries, in milliseconds since the epoch (protocol, 'In-Commit
   * Timestamps').
   */
  def inCommitTimestamp(version: Long): Option[Long] = {
    val file = FileNames.unsafeDeltaFile(handle.logPath, version)
    naming(file) {
      DamagedAction.inDelta(DeltaHistoryManager.getCommitInfoOpt(deltaLog.store, file, conf))
        .flatMap(_.inCommitTimestamp)
    }
  }

  private def naming[T](file: Path)(read: => T): T =
    try read
    catch {
      case NonFatal(e) if InputFailures.damageOfLog(e).isDefined =>
        throw new UnreadableInput(file.toString, e)
    }

  /**
   * The actions of a commit or of a JSON checkpoint; null for those that Delta does not know. Blank lines are
   * skipped, as in Spark.
   */
  private[upkeep] def actions(path: Path): Seq[Action] =
    Using.resource(deltaLog.store.readAsIterator(path, conf)) { lines =>
      lines.filterNot(_.trim.isEmpty).map(decoded).toList
    }

  /** The actions of a commit about applications and domains, which may be few among many about files. */
  private[upkeep] def transactionsAndDomains(commit: Path): Seq[Action] =
    Using.resource(deltaLog.store.readAsIterator(commit, conf)) { lines =>
      lines.filter(line => OtherActions.exists(line.contains(_))).map(decoded).collect {
        case action @ (_: SetTransaction | _: DomainMetadata) => action
      }.toList
    }

  private def decoded(line: String): Action = DamagedAction.in(Action.fromJson(line))

  /**
   * The sidecars that a checkpoint names. A checkpoint in the form of the v2 spec has a `checkpointMetadata`
   * action; a UUID-named one without it is damaged. A failure to read is an answer, not an error: the planner
   * then uses another checkpoint and keeps every sidecar.
   */
  def sidecarReferences(checkpoint: LogFile, uuidNamed: Boolean): SidecarReferences = {
    val path = new Path(handle.logPath, checkpoint.path)
    val read = if (checkpoint.name.endsWith(".json")) readJson(path) else readParquet(path)
    read.map(actions => actions -> sidecarsOf(actions)) match {
      case Success((actions, _)) if uuidNamed && !actions.exists(_.isInstanceOf[CheckpointMetadata]) =>
        SidecarReferences.Unreadable("it has no checkpointMetadata action")
      case Success((_, sidecars)) =>
        sidecars.find(DeltaLogReader.isElsewhere(handle, _)) match {
          case Some(elsewhere) => SidecarReferences.Unreadable(s"it names $elsewhere, which is not a sidecar")
          case None => SidecarReferences.Named(sidecars.map(_.getName).toSet)
        }
      case Failure(e) => SidecarReferences.Unreadable(e.getMessage)
    }
  }

  /** Why a cleanup cannot rely on a checkpoint, or None. */
  def flaw(checkpoint: FoundCheckpoint): Option[String] = {
    def statuses(files: Seq[LogFile]) = files.map(DeltaLogReader.statusOf(handle, _))
    def found = whole.checkPages(
      checkpoint.version,
      statuses(checkpoint.topLevel),
      statuses(checkpoint.sidecars)
    )
    Try(found) match {
      case Success(Wholeness.Whole) => None
      case Success(Wholeness.Damaged(why, _)) => Some(why)
      case Success(Wholeness.Unproved(why)) => Some(why)
      case Failure(e) =>
        logWarning(s"A cleanup of ${handle.name} cannot rely on version ${checkpoint.version}", e)
        Some(Option(e.getMessage).getOrElse(e.getClass.getSimpleName))
    }
  }

  private def sidecarsOf(actions: Seq[Action]): Seq[Path] =
    actions.collect { case sidecar: SidecarFile => sidecar.toFileStatus(handle.logPath).getPath }

  private def readJson(path: Path): Try[Seq[Action]] = Try(actions(path))

  private def readParquet(path: Path): Try[Seq[Action]] = Try {
    val files = Array(path.getFileSystem(conf).getFileStatus(path))
    val index = DeltaLogFileIndex(DeltaLogFileIndex.CHECKPOINT_FILE_FORMAT_PARQUET, files)
    val actions = deltaLog
      .loadIndex(index, Action.logSchema(Set("checkpointMetadata", "sidecar")))
      .where("checkpointMetadata is not null or sidecar is not null")
    val metadata = actions.select("checkpointMetadata.*").where("version is not null")
    val sidecars = actions.select("sidecar.*").where("path is not null")
    metadata.as[CheckpointMetadata](Encoders.product[CheckpointMetadata]).collect().toSeq ++
      sidecars.as[SidecarFile](Encoders.product[SidecarFile]).collect()
  }
}

private[upkeep] object DeltaLogReader {

  /** A file of the log itself, as it was listed. */
  def fileOf(status: FileStatus): LogFile =
    LogFile(LogDirectory.Root, status.getPath.getName, status.getLen, status.getModificationTime)

  /** A file as it was listed. */
  def statusOf(handle: DeltaHandle, file: LogFile): FileStatus = {
    val path = new Path(handle.logPath, file.path)
    new FileStatus(file.sizeInBytes, false, 1, 0, file.modificationTime, path)
  }

  /**
   * Whether a file that a checkpoint names is outside the directory that the protocol prescribes for
   * sidecars.
   */
  def isElsewhere(handle: DeltaHandle, sidecar: Path): Boolean =
    sidecar.getParent != FileNames.sidecarDirPath(handle.logPath)
}
