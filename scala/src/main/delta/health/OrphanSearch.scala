package org.apache.spark.sql.delta.upkeep.health

import scala.annotation.tailrec

import io.deltaupkeep.{FileTotal, SideBySide, UpkeepConf}
import io.deltaupkeep.health.Orphans

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.delta.actions.DeletionVectorDescriptor
import org.apache.spark.sql.delta.upkeep.read.FilePaths
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.functions.broadcast

/**
 * Searches for files that VACUUM would delete: files in the table's directory that are older than
 * `delta.deletedFileRetentionDuration` and named neither by the newest version nor by a removal within that
 * time.
 *
 * Lists up to `spark.deltaUpkeep.health.listedFiles` files, and holds about 500 bytes for each.
 */
final class OrphanSearch(handle: DeltaHandle) {
  import OrphanSearch._

  private val snapshot = handle.snapshot
  private val root = snapshot.deltaLog.dataPath
  private val fileSystem = root.getFileSystem(handle.hadoopConf)
  private val most = handle.session.sessionState.conf.getConf(UpkeepConf.HealthListedFiles)

  /** @param files of the newest version */
  def run(files: SelectedFiles): Orphans =
    if (most == 0 || files.considered > most) tooMany("table")
    else listed(Seq(root), Vector.empty).fold(tooMany("table's directory")) { found =>
      val named = files.adds.flatMap(add => namesOf(root, add.path, add.deletionVector)).toSet
      val old = found.filter(_.getModificationTime < snapshot.minFileRetentionTimestamp)
      val unnamed = old.filterNot(file => named(nameOf(file)))
      val removed = removedOf(unnamed.map(nameOf))
      val orphans = unnamed.filterNot(file => removed(nameOf(file)))
      Orphans.Found(FileTotal.of(orphans.map(_.getLen)))
    }

  private def tooMany(what: String): Orphans =
    Orphans.NotLookedFor(s"the $what has more files than ${UpkeepConf.HealthListedFiles.key} ($most)")

  /** The files below directories; None if there are too many. */
  @tailrec
  private def listed(directories: Seq[Path], before: Vector[FileStatus]): Option[Vector[FileStatus]] =
    if (before.size > most) None
    else if (directories.isEmpty) Some(before)
    else {
      val (now, later) = directories.splitAt(Threads)
      val (below, files) = SideBySide
        .map(now, "delta-upkeep-orphans", Threads)(fileSystem.listStatus(_: Path).toSeq)
        .flatten
        .filterNot(isHidden)
        .partition(_.isDirectory)
      listed(later ++ below.map(_.getPath), before ++ files)
    }

  private def isHidden(file: FileStatus): Boolean =
    DeltaApi.current.isHidden(snapshot.metadata, file.getPath.getName)

  /** The given names that removals within the retention have. */
  private def removedOf(names: Seq[String]): Set[String] =
    if (names.isEmpty) Set.empty
    else {
      import org.apache.spark.sql.delta.implicits._
      val session = handle.session
      val table = root
      val removed = snapshot.tombstones
        .flatMap(remove => namesOf(table, remove.path, remove.deletionVector))
        .toDF("name")
      removed
        .join(broadcast(session.createDataset(names).toDF("name")), Seq("name"), "left_semi")
        .as[String]
        .collect()
        .toSet
    }
}

private object OrphanSearch {
  private val Threads = 8

  private def nameOf(file: FileStatus): String = file.getPath.toString

  /** The files of a logical file: the data file, and its deletion vector if it has one. */
  private def namesOf(root: Path, path: String, vector: DeletionVectorDescriptor): Seq[String] =
    FilePaths.absolute(root.toString, path) +:
      Option(vector).filter(_.isOnDisk).map(_.absolutePath(root).toString).toSeq
}
