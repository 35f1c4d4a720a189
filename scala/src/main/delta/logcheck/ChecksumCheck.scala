package org.apache.spark.sql.delta.upkeep.logcheck

import io.deltaupkeep.plan.repair.{FileKind, FsckSettings}

import org.apache.spark.sql.delta.{Snapshot, VersionChecksum}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.FileNames

/** Finds checksums that are damaged, or that contradict the rest of the log. */
private[logcheck] final class ChecksumCheck(table: DeltaHandle, settings: FsckSettings) {
  import ChecksumCheck._
  import ChecksumFile.{countsOf, text}
  import LogProblems._

  private val file = new ChecksumFile(table)
  private val texts = new LogProblems(table.logPath, settings.mode)

  /**
   * Of a version whose checkpoint was judged by its commits.
   *
   * @param truth   by the commits
   * @param accused why a checkpoint that agrees with the commits would be damaged by this checksum
   */
  def problem(version: Long, truth: VersionChecksum, accused: Option[String]): Option[LogProblem] =
    file.read(version).flatMap {
      case Left(flaw) => Some(unreadable(version, flaw, truth))
      case Right(_) => accused.map { why =>
          val found = s"the commits agree with the checkpoint, but by the checksum $why"
          problem(version, found, Right(() => file.write(version, truth)))
        }
    }

  /** Why nothing is certain, if the checksum of a version and its commits differ. */
  def contradiction(version: Long, truth: VersionChecksum): Option[String] =
    file.read(version).flatMap(_.toOption).map(countsOf).filter(_ != countsOf(truth)).map { counts =>
      s"the checksum says ${text(counts)}, and the commits ${text(countsOf(truth))}: $Uncertain"
    }

  /**
   * Of the newest version.
   *
   * @param trusted the version, read from files that are shown to be whole, if there are such
   * @param counts  the number and the size of its files
   */
  def ofNewest(trusted: => Option[Snapshot], counts: (Long, Long)): Option[LogProblem] = {
    val version = table.snapshot.version
    lazy val computed = trusted.map(ChecksumFile.of)
    file.read(version).flatMap {
      case Left(flaw) =>
        Some(computed.fold(problem(version, flaw.why, Left(NotWhole)))(unreadable(version, flaw, _)))
      case Right(found) =>
        def inFiles = Option.when(countsOf(found) != counts) {
          s"the checksum says ${text(countsOf(found))}, and the rest of the log ${text(counts)}"
        }
        def inOthers =
          if (settings.deep) computed.flatMap(ChecksumFile.difference(found, _)) else None
        inFiles.orElse(inOthers.map(what => s"it does not agree with the rest of the log about the $what"))
          .map(problem(version, _, Left(Uncertain)))
    }
  }

  private def unreadable(version: Long, flaw: Flaw, computed: => VersionChecksum): LogProblem =
    if (flaw.isCertain) problem(version, flaw.why, Right(() => file.write(version, computed)))
    else problem(version, s"the store did not return it: ${flaw.why}", Left(AskAgain), Unknown)

  private def problem(
      version: Long,
      what: String,
      repair: Either[String, () => Option[String]],
      name: String = Damaged
  ): LogProblem = texts.problem(
    Some(version),
    FileKind.Checksum,
    FileNames.checksumFile(table.logPath, version).getName,
    name,
    s"the checksum of version $version: $what",
    repair
  )
}

private object ChecksumCheck {
  private val NotWhole =
    "it cannot be written anew, because no checkpoint can be shown to be whole. Readers do without it"

  private val Uncertain =
    "either it is wrong, or a commit or a checkpoint is. Compare the table with a copy. If the log is right, delete the " +
      "checksum: readers do without it"
}
