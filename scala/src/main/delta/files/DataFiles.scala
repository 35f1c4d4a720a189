package org.apache.spark.sql.delta.upkeep.files

import java.util.Arrays

import scala.collection.mutable

import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.upkeep.read.DriverBytes
import org.apache.spark.sql.delta.upkeep.state.FileIds
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}

/**
 * Files of a table, as the planner sees them.
 *
 * @param kept         those that the predicate selects and that may be chosen
 * @param considered   how many the predicate selects
 * @param highestRowId in any file of the table, -1 if there is none; None if the table has no row ids, or only some
 *                     of the files were read
 * @param replay       where they were found
 * @param windows      of all files, if they are too many to be held at once: those kept are of the first one
 */
private[upkeep] final case class DataFiles(
    kept: Seq[DataFile],
    considered: Int,
    highestRowId: Option[Long],
    replay: ReplayPlace,
    windows: Seq[FileWindow] = Nil
)

private[upkeep] object DataFiles {

  /**
   * The files that the predicate on partition columns selects. The driver finds them, unless the commits are too large for
   * it.
   *
   * @param keep   the files that may be chosen
   * @param window those of them that are wanted, or None for as many as are held at once
   * @param most   how many these are
   */
  def of(
      handle: DeltaHandle,
      predicate: Seq[Expression],
      keep: DataFile => Boolean,
      window: Option[FileWindow] = None,
      most: Long = Long.MaxValue
  ): DataFiles = {
    def search(of: Option[FileWindow]) = new FileSearch(handle, predicate, keep, of, most).result
    def found = search(window).flatMap { all =>
      all.windows.headOption match {
        case None => Right(all)
        case first => search(first).map(_.copy(windows = all.windows))
      }
    }
    excess(handle).toLeft(()).flatMap(_ => found).fold(
      why => {
        val all = ofActions(handle, ActiveFiles.asJob(handle, predicate, why))
        window.fold(all)(of => all.copy(kept = all.kept.filter(of.has)))
      },
      identity
    )
  }

  /** Why the driver should not find them, or None. It holds what commits name; a checkpoint passes by. */
  def excess(handle: DeltaHandle): Option[String] = {
    val commits = handle.snapshot.logSegment.deltas.map(_.getLen).sum
    DriverBytes.excess(handle.session, "the commits since the last checkpoint take", commits)
  }

  /**
   * Without repetitions, which a damaged log may have. About a hundred of a million files share a hash with another, and
   * only those are compared.
   */
  private[files] def distinct(files: Seq[DataFile]): Seq[DataFile] = {
    val hashes = Array.newBuilder[Int]
    files.foreach(hashes += _.path.hashCode)
    val sorted = hashes.result()
    Arrays.sort(sorted)
    val repeated = Array.newBuilder[Int]
    for (i <- 1 until sorted.length) if (sorted(i) == sorted(i - 1)) repeated += sorted(i)
    val ofSeveral = repeated.result()
    if (ofSeveral.isEmpty) files
    else {
      val seen = mutable.HashSet.empty[DataFile.Id]
      files.filter(file => Arrays.binarySearch(ofSeveral, file.path.hashCode) < 0 || seen.add(file.id))
    }
  }

  /** The same, of actions. */
  def ofActions(handle: DeltaHandle, files: ActiveFiles): DataFiles = {
    val ids = new FileIds(handle.snapshot)
    val partitions = new Partitions(handle.snapshot.metadata)
    val selected =
      distinct(files.selected.map(add => DataFileReader.of(add, ids.idOf(add), partitions.of(add))))
    DataFiles(selected, selected.size, files.highestRowId, files.replay)
  }
}
