package org.apache.spark.sql.delta.upkeep.vacuum

import scala.collection.mutable

import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** The files that commits after a version of a table add. Asks the log each time that it is told to. */
private[vacuum] final class NamedMeanwhile(handle: DeltaHandle, files: FileNames) {

  private val added = mutable.HashSet.empty[String]
  private var seen = handle.snapshot.version

  /** Whether a commit up to the last look adds a file. */
  def names(file: String): Boolean = added(file)

  def look(): Unit =
    DeltaApi.current.changes(handle.snapshot.deltaLog, seen + 1, handle.table.catalogTable).foreach {
      case (version, actions) =>
        actions.foreach(action => added ++= files.added(action))
        seen = version
    }
}
