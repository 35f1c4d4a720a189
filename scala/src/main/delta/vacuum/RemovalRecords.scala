package org.apache.spark.sql.delta.upkeep.vacuum

import java.nio.file.FileAlreadyExistsException
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.deltaupkeep.log.{LogFile, LogFileKind}

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.JsonUtils

/**
 * What commits removed, written down before these are deleted, so that VACUUM need not list all directories. A record
 * is a file of the log with a `remove` action for each file, also for those of the change data feed.
 */
private[upkeep] final class RemovalRecords(table: DeltaHandle, log: IndexedSeq[LogFile]) extends Logging {
  import RemovalRecords._

  private val store = table.snapshot.deltaLog.store
  private val changes = new CommitChanges(table, log)
  private lazy val commits = log.iterator.map(file => file -> file.kind).collect {
    case (file, LogFileKind.Commit(version)) => version -> file
  }.toMap

  /**
   * Writes records of some versions; both ends are included. One that cannot be written costs the next VACUUM a
   * listing, and keeps no commit from being deleted: the log may have to shrink because the store is full.
   *
   * @return why that failed, or None
   */
  def write(first: Long, last: Long): Option[String] =
    try {
      groups(first, last).foreach(write)
      None
    } catch {
      case NonFatal(e) =>
        logWarning(s"What versions $first to $last of ${table.name} removed is not written down", e)
        Some(Option(e.getMessage).getOrElse(e.getClass.getSimpleName))
    }

  private def write(group: Group): Unit = {
    val lines = new ConcurrentLinkedQueue[String]
    changes.foreach(version => version >= group.first && version <= group.last) { change =>
      lines.add(lineOf(change))
      ()
    }
    val path = new Path(table.logPath, LogFileKind.RemovedFiles(group.first, group.last).fileName)
    try store.write(path, lines.iterator.asScala, overwrite = false, table.hadoopConf)
    // Another cleanup has written the same.
    catch { case _: FileAlreadyExistsException => () }
  }

  private def groups(first: Long, last: Long): Seq[Group] =
    (first to last).foldLeft(List.empty[Group]) { (groups, version) =>
      val bytes = commits(version).sizeInBytes
      groups match {
        case group :: before if group.bytes + bytes <= MostBytes =>
          Group(group.first, version, group.bytes + bytes) :: before
        case _ => Group(version, version, bytes) :: groups
      }
    }.reverse

  private def lineOf(change: FileChange): String = {
    val action = JsonUtils.mapper.createObjectNode()
    val remove = action.putObject("remove")
    remove.put("path", change.path)
    remove.put("size", change.sizeInBytes)
    remove.put("deletionTimestamp", change.removedAt.getOrElse(commits(change.version).modificationTime))
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
