package org.apache.spark.sql.delta.upkeep.state

import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}

/**
 * The files of a table's version that a predicate selects.
 *
 * The driver holds Delta's action for each of them: about 1 KB with statistics, so a gigabyte for a million files.
 *
 * @param predicate conditions on partition columns; none selects all files
 */
final class SelectedFiles(handle: DeltaHandle, private[upkeep] val predicate: Seq[Expression]) {

  private[upkeep] val ids = new FileIds(handle.snapshot)
  private val partitions = new Partitions(handle.snapshot.metadata)

  private lazy val found = ActiveFiles.of(handle, predicate)
  private lazy val byId: Map[DataFile.Id, AddFile] =
    found.selected.iterator.map(add => ids.idOf(add) -> add).toMap

  /** How they were found. */
  def replay: ReplayPlace = found.replay

  /** The highest row id in any file of the table; -1 if there is none. None if only some of the files were read. */
  private[upkeep] def highestRowId: Option[Long] = found.highestRowId

  lazy val files: Seq[DataFile] = byId.values.map(dataFile).toSeq

  /** The same files as Delta's actions. */
  private[upkeep] def adds: Iterable[AddFile] = byId.values

  private[upkeep] def actionOf(file: DataFile): AddFile = byId(file.id)

  private[upkeep] def dataFile(add: AddFile): DataFile = DataFile(
    path = ids.idOf(add).path,
    deletionVector = add.getDeletionVectorUniqueId,
    sizeInBytes = add.size,
    modificationTime = add.modificationTime,
    partition = partitions.of(add),
    physicalRows = MergedStats.numRecords(add.stats),
    deletedRows = add.numDeletedRecords,
    optimizedFor = add.tag(AddFile.Tags.OPTIMIZE_TARGET_SIZE).map(_.toLong),
    cube = Option(add.tags)
      .filter(tags => tags.contains(DataFile.ZOrderTag) || tags.contains(DataFile.SortTag))
      .map(_.getOrElse(DataFile.CubeTag, ""))
  )
}
