package org.apache.spark.sql.delta.upkeep.files

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.state.FileIds
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}

/**
 * The files of a table's version that a predicate selects.
 *
 * The driver holds a value for each of them: about 300 bytes. Delta's action, about 1 KB with statistics, is held for
 * those that are to be rewritten, or for all.
 *
 * Files whose statistics rule out rows that meet the conditions on data columns are not among them: Delta's own data skipping
 * decides.
 *
 * @param whole whether the actions of all files are needed
 * @param keep  the files that may be chosen, if not all have to be known
 * @param only  those of a window, or None for all, or for those of the first window if they are too many
 */
final class SelectedFiles(
    handle: DeltaHandle,
    filePredicate: FilePredicate,
    private[upkeep] val whole: Boolean,
    keep: DataFile => Boolean = _ => true,
    only: Option[FileWindow] = None
) {

  /** Conditions on partition columns. */
  private[upkeep] def predicate: Seq[Expression] = filePredicate.partition

  private[upkeep] val ids = new FileIds(handle.snapshot)
  private val partitions = new Partitions(handle.snapshot.metadata)

  private lazy val all = ActiveFiles.of(handle, predicate)
  private lazy val found =
    if (whole) DataFiles.ofActions(handle, all)
    // Data skipping names files one by one, whatever their number.
    else if (skipped.nonEmpty) DataFiles.of(handle, predicate, _ => true, only)
    else DataFiles.of(handle, predicate, keep, only, SelectedFiles.most(handle))

  private lazy val byId: Map[DataFile.Id, AddFile] = {
    val actions = all.selected.iterator.map(add => ids.idOf(add) -> add)
    skipped.fold(actions)(kept => actions.filter { case (id, _) => kept(id) }).toMap
  }

  private var loaded = Map.empty[DataFile.Id, AddFile]

  /** The files that may have a row which meets the conditions on data columns; None if there are no such conditions. */
  private lazy val skipped: Option[Set[DataFile.Id]] = filePredicate.skipping match {
    case Seq() => None
    case filters if filters.contains(Literal.FalseLiteral) => Some(Set.empty)
    case filters => Some(handle.session.withActive {
        handle.snapshot.filesForScan(filters).files.iterator.map(ids.idOf).toSet
      })
  }

  /** The same files, with the actions of all. */
  private[upkeep] def withActions: SelectedFiles =
    if (whole) this else new SelectedFiles(handle, filePredicate, whole = true)

  /** How they were found. */
  def replay: ReplayPlace = found.replay

  /** The highest row id in any file of the table; -1 if there is none. None if only some of the files were read. */
  private[upkeep] def highestRowId: Option[Long] = found.highestRowId

  /** The window that the files are of, if they are not all. */
  private[upkeep] def window: Option[FileWindow] = only.orElse(found.windows.headOption)

  /** The windows after it, if it is the first. */
  private[upkeep] def laterWindows: Seq[FileWindow] = found.windows.drop(1)

  /** Those that may be chosen. */
  lazy val files: Seq[DataFile] =
    skipped.fold(found.kept)(kept => found.kept.filter(file => kept(file.id)))

  /** The number of all. */
  def considered: Int = if (skipped.isEmpty) found.considered else files.size

  /** The same files as Delta's actions. */
  private[upkeep] def adds: Iterable[AddFile] = byId.values

  private[upkeep] def dataFile(add: AddFile): DataFile =
    DataFileReader.of(add, ids.idOf(add), partitions.of(add))

  /** Reads the actions of some of the files. */
  private[upkeep] def load(some: Iterable[DataFile]): Unit =
    if (!whole) loaded = ActiveFiles.some(handle, some.iterator.map(_.id).toSet)

  /** Delta's action of a file, which is one of those that were loaded if not all are needed. */
  private[upkeep] def actionOf(file: DataFile): AddFile = if (whole) byId(file.id) else loaded(file.id)
}

private object SelectedFiles {

  /** A file takes 300 bytes, and its action another 1,000 once it is to be rewritten. */
  private val HeapBytesOfFile = 4096

  /** How many files are planned at once. */
  private def most(handle: DeltaHandle): Long =
    handle.session.sessionState.conf.getConf(UpkeepConf.PlannedFiles) match {
      case 0 => Runtime.getRuntime.maxMemory / HeapBytesOfFile
      case asked => asked
    }
}
