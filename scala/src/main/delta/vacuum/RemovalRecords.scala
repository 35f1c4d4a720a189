package org.apache.spark.sql.delta.upkeep.vacuum

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import io.deltaupkeep.log.{LogFile, LogFileKind}

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.Checkpoints
import org.apache.spark.sql.delta.upkeep.read.DriverBytes
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.JsonUtils

/**
 * What commits removed, written down before these are deleted, so that VACUUM need not list all directories. A record
 * is a file of the log with a `remove` action for each file, also for those of the change data feed.
 */
private[upkeep] final class RemovalRecords(table: DeltaHandle, log: IndexedSeq[LogFile]) extends Logging {
  import RemovalRecords._

  private val changes = new CommitChanges(table, log)
  private val fileSystem = table.logPath.getFileSystem(table.hadoopConf)

  /**
   * Writes records of some versions; both ends are included. One that cannot be written costs the next VACUUM a
   * listing, and keeps no commit from being deleted: the log may have to shrink because the store is full.
   *
   * @return why that failed, or None
   */
  def write(first: Long, last: Long): Option[String] =
    try {
      val commits = log.iterator.map(file => file.kind -> file).collect {
        case (LogFileKind.Commit(version), file) if version >= first && version <= last => version -> file
      }.toMap
      groups((first to last).map(version => version -> commits(version).sizeInBytes))
        .foreach(write(_, version => commits(version).modificationTime))
      None
    } catch {
      case NonFatal(e) =>
        logWarning(s"What versions $first to $last of ${table.name} removed is not written down", e)
        Some(Option(e.getMessage).getOrElse(e.getClass.getSimpleName))
    }

  private def write(group: Group, timeOf: Long => Long): Unit = {
    val lines = new ConcurrentLinkedQueue[String]
    changes.foreach(version => version >= group.first && version <= group.last) { change =>
      lines.add(lineOf(change, timeOf(change.version)))
      ()
    }
    val path = new Path(table.logPath, LogFileKind.RemovedFiles(group.first, group.last).fileName)
    // A LogStore for several writers would take the file with the last name for the newest commit.
    val written = new Path(table.logPath, s".${path.getName}.${UUID.randomUUID}.tmp")
    Using.resource(fileSystem.create(written, false)) { out =>
      lines.asScala.foreach(line => out.write(s"$line\n".getBytes(UTF_8)))
    }
    Checkpoints.renameAndCleanupTempPartFile(written, path, fileSystem)
  }

  /** @param sizes of the commits of successive versions, in bytes */
  private def groups(sizes: Seq[(Long, Long)]): Seq[Group] =
    sizes.foldLeft(List.empty[Group]) { case (groups, (version, bytes)) =>
      DriverBytes.excess(table.session, s"the commit of version $version takes", bytes)
        .foreach(why => throw new IOException(why))
      groups match {
        case group :: before if group.bytes + bytes <= MostBytes =>
          Group(group.first, version, group.bytes + bytes) :: before
        case _ => Group(version, version, bytes) :: groups
      }
    }.reverse

  /** @param committed milliseconds since the epoch */
  private def lineOf(change: FileChange, committed: Long): String = {
    val action = JsonUtils.mapper.createObjectNode()
    val remove = action.putObject("remove")
      .put("path", change.path)
      .put("size", change.sizeInBytes)
      .put("deletionTimestamp", change.removedAt.getOrElse(committed))
    change.vector.foreach { vector =>
      remove.putObject("deletionVector")
        .put("storageType", vector.storage)
        .put("pathOrInlineDv", vector.place)
        .put("sizeInBytes", vector.sizeInBytes)
    }
    action.toString
  }
}

private object RemovalRecords {

  /** Versions of which one record is written, because their commits fit into memory. */
  private final case class Group(first: Long, last: Long, bytes: Long)

  private val MostBytes = 64L << 20
}
