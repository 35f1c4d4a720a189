package org.apache.spark.sql.delta.upkeep.repair

import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.{NamedFile, NamedVector}
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.storage.dv.DeletionVectorStore
import org.apache.spark.sql.delta.upkeep.read.FilePaths
import org.apache.spark.sql.delta.upkeep.state.FileIds
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** Files as actions name them. */
private[repair] final class LoggedFiles(handle: DeltaHandle) {

  private val root = handle.snapshot.deltaLog.dataPath
  private val ids = new FileIds(handle.snapshot)

  def idOf(add: AddFile): DataFile.Id = ids.idOf(add)

  def of(add: AddFile): NamedFile = NamedFile(
    ids.idOf(add),
    FilePaths.absolute(root.toString, add.path),
    add.size,
    LoggedFiles.rowsOf(add),
    Option(add.deletionVector).filter(_.isOnDisk).map(vectorOf)
  )

  private def vectorOf(descriptor: DeletionVectorDescriptor): NamedVector = NamedVector(
    descriptor.absolutePath(root).toString,
    descriptor.offset.getOrElse(0).toLong +
      DeletionVectorStore.getTotalSizeOfDVFieldsInFile(descriptor.sizeInBytes)
  )
}

private[repair] object LoggedFiles {

  /** Rows that are not deleted; None if the log does not say. */
  def rowsOf(add: AddFile): Option[Long] = MergedStats.numRecords(add.stats).map(_ - deletedIn(add))

  private def deletedIn(add: AddFile): Long = Option(add.deletionVector).fold(0L)(_.cardinality)
}
