package org.apache.spark.sql.delta.upkeep.vacuum

import java.io.FileNotFoundException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.JsonUtils

/**
 * The file `_last_vacuum_info` of a log, which Delta has too since 3.3: up to which version a VACUUM has deleted what
 * commits removed. It saves work. Without it, all commits are read, or all directories are listed.
 */
private[vacuum] final class LastVacuum(table: DeltaHandle) extends Logging {
  import LastVacuum._

  private val path = new Path(table.logPath, "_last_vacuum_info")
  private val store = table.snapshot.deltaLog.store

  /** None if there is none, or if it cannot be read. */
  def version: Option[Long] =
    try
      store.read(path, table.hadoopConf).headOption
        .flatMap(line => Option(JsonUtils.mapper.readTree(line).get(Field)))
        .filter(_.isIntegralNumber)
        .map(_.longValue)
    catch {
      case _: FileNotFoundException => None
      case NonFatal(e) =>
        logWarning(s"Cannot read $path, so all commits are read: $e")
        None
    }

  def write(version: Long): Unit =
    try store.write(path, Iterator.single(s"""{"$Field":$version}"""), overwrite = true, table.hadoopConf)
    catch { case NonFatal(e) => logWarning(s"Cannot write $path, so the next VACUUM has more to read: $e") }
}

private object LastVacuum {
  private val Field = "latestCommitVersionOutsideOfRetentionWindow"
}
