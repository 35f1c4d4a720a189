package org.apache.spark.sql.delta.upkeep.logcheck

import java.io.{FileNotFoundException, IOException}

import scala.util.Try
import scala.util.control.NonFatal

import io.deltaupkeep.{ByteText, CountText}

import org.apache.spark.sql.delta.{Snapshot, VersionChecksum}
import org.apache.spark.sql.delta.upkeep.checkpoint.CommitBelow
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}
import org.apache.spark.sql.delta.util.{FileNames, JsonUtils}

/** Checksums of versions (protocol, 'Version Checksum File'). */
private[logcheck] final class ChecksumFile(table: DeltaHandle) {
  private val store = table.snapshot.deltaLog.store
  private val conf = table.hadoopConf

  /** None if a version has none. */
  def read(version: Long): Option[Either[Flaw, VersionChecksum]] =
    try {
      val text = store.read(FileNames.checksumFile(table.logPath, version), conf).headOption
      Some(text.flatMap(parsed).toRight(Flaw("it cannot be parsed", isCertain = true)))
    } catch {
      case _: FileNotFoundException => None
      case NonFatal(e) if InputFailures.damageOfLog(e).isDefined =>
        Some(Left(Flaw(InputFailures.damageOfLog(e).mkString, isCertain = true)))
      case e: IOException => Some(Left(Flaw(e.toString, isCertain = false)))
    }

  private def parsed(json: String): Option[VersionChecksum] =
    Try(Option(JsonUtils.fromJson[VersionChecksum](json))).toOption.flatten

  /** Returns why nothing was written, if the table was dropped or replaced. */
  def write(version: Long, checksum: VersionChecksum): Option[String] =
    if (!new CommitBelow(table).isThere) Some(LogProblems.Overtaken)
    else {
      val path = FileNames.checksumFile(table.logPath, version)
      store.write(path, Iterator(JsonUtils.toJson(checksum)), overwrite = true, conf)
      None
    }
}

private[logcheck] object ChecksumFile {

  /** What a checksum would say of a version that is read without one. */
  def of(snapshot: Snapshot): VersionChecksum = {
    val uncounted = withChecksum(snapshot, None)
    try uncounted.computeChecksum
    finally uncounted.uncache()
  }

  def withChecksum(snapshot: Snapshot, checksum: Option[VersionChecksum]): Snapshot =
    new Snapshot(snapshot.path, snapshot.version, snapshot.logSegment, snapshot.deltaLog, checksum)

  /** The number and the size of the files. */
  def countsOf(checksum: VersionChecksum): (Long, Long) = (checksum.numFiles, checksum.tableSizeBytes)

  def text(counts: (Long, Long)): String = s"${CountText.of(counts._1, "file")} of ${ByteText.of(counts._2)}"

  /** In what a checksum differs from its version, apart from the files. */
  def difference(found: VersionChecksum, computed: VersionChecksum): Option[String] = {
    def differ[T](of: VersionChecksum => Option[T]) =
      of(found).exists(one => of(computed).exists(_ != one))
    if (differ(checksum => Option(checksum.protocol))) Some("protocol")
    else if (differ(checksum => Option(checksum.metadata))) Some("metadata")
    else if (differ(_.inCommitTimestampOpt)) Some("commit timestamp")
    else if (differ(_.domainMetadata.map(_.filterNot(_.removed).toSet))) Some("domains")
    else None
  }
}
