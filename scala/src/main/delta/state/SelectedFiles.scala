package org.apache.spark.sql.delta.upkeep.state

import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}

/**
 * The files of a table's version that a predicate selects.
 *
 * The driver holds Delta's action for each of them: about 1 KB with statistics, so a gigabyte for a million files.
 *
 * Files whose statistics rule out rows that meet the conditions on data columns are not among them: Delta's own data skipping
 * decides.
 */
final class SelectedFiles(handle: DeltaHandle, filePredicate: FilePredicate) {

  /** Conditions on partition columns. */
  private[upkeep] def predicate: Seq[Expression] = filePredicate.partition

  private[upkeep] val ids = new FileIds(handle.snapshot)
  private val partitions = new Partitions(handle.snapshot.metadata)

  private lazy val found = ActiveFiles.of(handle, predicate)
  private lazy val byId: Map[DataFile.Id, AddFile] = {
    val all = found.selected.iterator.map(add => ids.idOf(add) -> add)
    skipped.fold(all)(kept => all.filter { case (id, _) => kept(id) }).toMap
  }

  /** The files that may have a row which meets the conditions on data columns; None if there are no such conditions. */
  private def skipped: Option[Set[DataFile.Id]] = filePredicate.skipping match {
    case Seq() => None
    case filters if filters.contains(Literal.FalseLiteral) => Some(Set.empty)
    case filters => Some(handle.session.withActive {
        handle.snapshot.filesForScan(filters).files.iterator.map(ids.idOf).toSet
      })
  }

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
