package org.apache.spark.sql.delta.upkeep.vacuum

import java.io.FileNotFoundException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.JsonUtils

/** A number that a VACUUM leaves in a file of the log, to save a later one work. */
private[upkeep] final class VacuumNote(table: DeltaHandle, file: String, field: String) extends Logging {

  private val path = new Path(table.logPath, file)
  private val store = table.snapshot.deltaLog.store

  /** None if there is none, or if it cannot be read. */
  def read: Option[Long] =
    try
      store.read(path, table.hadoopConf).headOption
        .flatMap(line => Option(JsonUtils.mapper.readTree(line).get(field)))
        .filter(_.isIntegralNumber)
        .map(_.longValue)
    catch {
      case _: FileNotFoundException => None
      case NonFatal(e) =>
        logWarning(s"Cannot read $path, so VACUUM does without it: $e")
        None
    }

  def write(value: Long): Unit =
    try store.write(path, Iterator.single(s"""{"$field":$value}"""), overwrite = true, table.hadoopConf)
    catch { case NonFatal(e) => logWarning(s"Cannot write $path, so the next VACUUM has more to read: $e") }
}

private[upkeep] object VacuumNote {

  /** Up to which version what commits removed was deleted. None if the table has no such version: it was made anew. */
  def seenVersion(table: DeltaHandle): Option[Long] =
    lastVersion(table).read.filter(_ <= table.snapshot.version)

  /** Up to which version what commits removed was deleted. Delta has this file too since 3.3. */
  def lastVersion(table: DeltaHandle): VacuumNote =
    new VacuumNote(table, "_last_vacuum_info", "latestCommitVersionOutsideOfRetentionWindow")

  /** When the last VACUUM began that listed all directories and left nothing to a later run; since the epoch, in ms. */
  def lastListing(table: DeltaHandle): VacuumNote =
    new VacuumNote(table, "_last_full_vacuum_info", "startedAt")
}
