package org.apache.spark.sql.delta.upkeep.vacuum

import scala.collection.mutable

import io.deltaupkeep.log.CommitTimes
import io.deltaupkeep.plan.vacuum.FoundFile

import org.apache.spark.sql.delta.actions.{AddCDCFile, RemoveFile}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * The files that commits removed before the cutoff: data files, deletion vectors, and files of the change data feed.
 *
 * @param cutoff milliseconds since the epoch
 */
private[vacuum] final class FilesInLog(
    handle: DeltaHandle,
    names: FileNames,
    commits: CommitTimes,
    cutoff: Long
) {

  private val found = mutable.LinkedHashMap.empty[String, FoundFile]
  private val times = (0 until commits.size).map(i => commits.version(i) -> commits.fileTime(i)).toMap
  private var skipped = Option.empty[Long]

  /** The first version with a removal that is stamped after the cutoff, although its commit is older. */
  def firstSkipped: Option[Long] = skipped

  /** Those of some versions; both ends are included. */
  def between(first: Long, last: Long): Iterable[FoundFile] = {
    DeltaApi.current.changes(handle.snapshot.deltaLog, first, handle.table.catalogTable)
      .takeWhile { case (version, _) => version <= last }
      .foreach { case (version, actions) =>
        actions.foreach {
          case remove: RemoveFile if remove.delTimestamp < cutoff =>
            add(names.own(remove.path), remove.size.getOrElse(0L), remove.delTimestamp, version)
            Option(remove.deletionVector).foreach { vector =>
              val name =
                names.ofVector(vector.storageType, vector.pathOrInlineDv).filter(_ => vector.isRelative)
              add(name, vector.sizeInBytes.toLong, remove.delTimestamp, version)
            }
          case _: RemoveFile => skipped = skipped.orElse(Some(version))
          // Only its own commit names it, and that has expired.
          case change: AddCDCFile =>
            add(
              names.own(change.path),
              change.size,
              math.min(times.getOrElse(version, 0L), cutoff - 1),
              version
            )
          case _ => ()
        }
      }
    found.values
  }

  private def add(name: Option[String], size: Long, time: Long, version: Long): Unit =
    name.foreach(path => found(path) = FoundFile(path, size, time, removedBy = Some(version)))
}
