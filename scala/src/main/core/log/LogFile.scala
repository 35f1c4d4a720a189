package io.deltaupkeep.log

/** A directory of the log; `prefix` is its path below `_delta_log`. */
sealed abstract class LogDirectory(val prefix: String) extends Serializable

object LogDirectory {
  case object Root extends LogDirectory("")
  case object Sidecars extends LogDirectory("_sidecars/")
  case object StagedCommits extends LogDirectory("_staged_commits/")
}

/**
 * A file of the log, as a listing shows it: about 200 bytes of memory, so 200 MB for a million files.
 *
 * @param name             without its directory
 * @param modificationTime milliseconds since the epoch
 */
final case class LogFile(directory: LogDirectory, name: String, sizeInBytes: Long, modificationTime: Long) {

  /** Below `_delta_log`. */
  def path: String = directory.prefix + name

  lazy val kind: LogFileKind = LogFileKind.of(directory, name)

  private[deltaupkeep] def isCheckpointOf(version: Long): Boolean = kind match {
    case LogFileKind.ClassicCheckpoint(number) => number == version
    case LogFileKind.CheckpointPart(number, _, _) => number == version
    case LogFileKind.V2Checkpoint(number, _, _) => number == version
    case _ => false
  }
}

/** What a file of the log is, by its name and place (protocol, 'File Types'). */
sealed abstract class LogFileKind(val name: String) extends Serializable {

  /** The version of the table that the file belongs to; the last one if it covers several. */
  def version: Option[Long]
}

object LogFileKind {

  /** `00000000000000000010.json` */
  final case class Commit(number: Long) extends Versioned("commit", number)

  /** `00000000000000000010.checkpoint.parquet` */
  final case class ClassicCheckpoint(number: Long) extends Versioned("classic checkpoint", number)

  /** `00000000000000000010.checkpoint.0000000001.0000000003.parquet`: part 1 of 3 */
  final case class CheckpointPart(number: Long, part: Int, parts: Int)
      extends Versioned("checkpoint part", number)

  /** `00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json`, or `.parquet` */
  final case class V2Checkpoint(number: Long, uuid: String, format: String)
      extends Versioned("v2 checkpoint", number)

  /** `00000000000000000010.crc` */
  final case class Checksum(number: Long) extends Versioned("checksum", number)

  /** `00000000000000000004.00000000000000000006.compacted.json`: versions 4 to 6 */
  final case class LogCompaction(start: Long, end: Long) extends Versioned("log compaction", end)

  /** `_staged_commits/00000000000000000010.80a083e8-7026-4e79-81be-64bd76c43a11.json` */
  final case class StagedCommit(number: Long, uuid: String) extends Versioned("staged commit", number)

  /** `_removed_files_0_41`: what versions 0 to 41 removed, whose commits CLEANUP LOG has deleted */
  final case class RemovedFiles(first: Long, last: Long) extends Unversioned("removed files") {
    def fileName: String = s"_removed_files_${first}_$last"
  }

  /** `_sidecars/3a0d65cd-4056-49b8-937b-95f9e3ee90e5.parquet` */
  case object Sidecar extends Unversioned("sidecar")

  /** `_last_checkpoint` */
  case object LastCheckpoint extends Unversioned("last checkpoint")

  /** `.00000000000000000010.checkpoint.parquet.80a083e8-7026-4e79-81be-64bd76c43a11.tmp` */
  case object Temporary extends Unversioned("temporary file")

  /** Anything else. */
  case object Unknown extends Unversioned("unknown")

  sealed abstract class Versioned(name: String, of: Long) extends LogFileKind(name) {
    override def version: Option[Long] = Some(of)
  }

  sealed abstract class Unversioned(name: String) extends LogFileKind(name) {
    override def version: Option[Long] = None
  }

  private val CommitName = raw"(\d+)\.json".r
  private val ClassicName = raw"(\d+)\.checkpoint\.parquet".r
  private val PartName = raw"(\d+)\.checkpoint\.(\d+)\.(\d+)\.parquet".r
  private val V2Name = raw"(\d+)\.checkpoint\.([^.]+)\.(json|parquet)".r
  private val ChecksumName = raw"(\d+)\.crc".r
  private val CompactionName = raw"(\d+)\.(\d+)\.compacted\.json".r
  private val RemovedFilesName = raw"_removed_files_(\d+)_(\d+)".r
  private val StagedName = raw"(\d+)\.([^.]+)\.json".r
  private val TemporaryName = raw"\..+\.tmp".r

  /** Parses a version. A file whose number is too large to be a version or a part is of no known kind. */
  private object Number {
    def unapply(digits: String): Option[Long] = digits.toLongOption
  }

  private object Part {
    def unapply(digits: String): Option[Int] = digits.toIntOption.filter(_ > 0)
  }

  /** The number of digits that Delta pads a version to. */
  private[deltaupkeep] val Digits = 20

  /**
   * Most files of a log have such a name and one of a few endings. They are recognized without a regular
   * expression.
   */
  private def ofUsualName(name: String): Option[LogFileKind] =
    if (leadingDigits(name) < Digits) None
    else name.substring(Digits) match {
      case ".json" => name.take(Digits).toLongOption.map(Commit(_))
      case ".crc" => name.take(Digits).toLongOption.map(Checksum(_))
      case _ => None
    }

  private def leadingDigits(name: String): Int = {
    var digits = 0
    while (digits < name.length && name.charAt(digits) >= '0' && name.charAt(digits) <= '9') digits += 1
    digits
  }

  def of(directory: LogDirectory, name: String): LogFileKind =
    (if (directory == LogDirectory.Root) ofUsualName(name) else None).getOrElse(ofAnyName(directory, name))

  private def ofAnyName(directory: LogDirectory, name: String): LogFileKind = (directory, name) match {
    // Hadoop takes the text before a colon as a scheme, so it can neither write nor delete such a file.
    case _ if name.contains(':') => Unknown
    case (_, TemporaryName()) => Temporary
    case (LogDirectory.Root, CommitName(Number(version))) => Commit(version)
    case (LogDirectory.Root, ClassicName(Number(version))) => ClassicCheckpoint(version)
    case (LogDirectory.Root, PartName(Number(version), Part(part), Part(parts))) if part <= parts =>
      CheckpointPart(version, part, parts)
    case (LogDirectory.Root, V2Name(Number(version), uuid, format)) => V2Checkpoint(version, uuid, format)
    case (LogDirectory.Root, ChecksumName(Number(version))) => Checksum(version)
    case (LogDirectory.Root, CompactionName(Number(start), Number(end))) if start <= end =>
      LogCompaction(start, end)
    case (LogDirectory.Root, "_last_checkpoint") => LastCheckpoint
    case (LogDirectory.Root, RemovedFilesName(Number(first), Number(last))) if first <= last =>
      RemovedFiles(first, last)
    case (LogDirectory.StagedCommits, StagedName(Number(version), uuid)) => StagedCommit(version, uuid)
    case (LogDirectory.Sidecars, sidecar) if sidecar.endsWith(".parquet") => Sidecar
    case _ => Unknown
  }
}
