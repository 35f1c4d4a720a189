package org.apache.spark.sql.delta.upkeep.files

import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.stats.MergedStats

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.encoders.encoderFor
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.delta.{DeltaLog, RowId}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, CheckpointFooter, DriverBytes}
import org.apache.spark.sql.delta.upkeep.state.{DriverFiles, FileIds, JobReplay}
import org.apache.spark.sql.delta.upkeep.table.{DamagedAction, DeltaHandle}
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/**
 * Files of a table, with their statistics.
 *
 * @param selected     by the predicate
 * @param highestRowId in any file of the table, -1 if there is none; None if the table has no row ids, or only some
 *                     of the files were read
 * @param replay       where they were found
 */
private[upkeep] final case class ActiveFiles(
    selected: Seq[AddFile],
    highestRowId: Option[Long],
    replay: ReplayPlace
)

/**
 * Finds the files of a table. A Spark job takes seconds to plan and compile in a fresh session, so the driver replays
 * the log unless that is too large, or the checkpoint has no statistics as JSON.
 */
private[upkeep] object ActiveFiles {
  import org.apache.spark.sql.delta.implicits._

  /** The files that the predicate on partition columns selects. */
  def of(handle: DeltaHandle, predicate: Seq[Expression]): ActiveFiles =
    onDriver(handle, predicate).fold(asJob(handle, predicate, _), identity)

  /** The files, or why a job has to find them. */
  private def onDriver(handle: DeltaHandle, predicate: Seq[Expression]): Either[String, ActiveFiles] =
    for {
      _ <- obstacle(handle).toLeft(())
      files = replayed(handle)
      _ <- handle.snapshot.checksumOpt.map(_.numFiles).filter(_ != files.size).map { counted =>
        s"the driver found ${files.size} files, but the version's checksum counts $counted"
      }.toLeft(())
    } yield {
      val selected =
        if (predicate.isEmpty) files
        else
          FilePredicate.evaluated(handle, predicate) {
            filtered(handle, predicate, handle.session.createDataset(files))
          }
      ActiveFiles(selected, highestRowId(handle, files), ReplayPlace.OnDriver)
    }

  private def replayed(handle: DeltaHandle): Seq[AddFile] = actions(handle, None)

  /**
   * Those of some files, whose ids are given.
   *
   * @return by id; a file that is missing is not in the table
   */
  def some(handle: DeltaHandle, wanted: Set[DataFile.Id]): Map[DataFile.Id, AddFile] =
    ofPaths(handle, wanted.map(_.path)).filter { case (id, _) => wanted(id) }

  /** The same for files with any deletion vectors, whose paths are given as Delta spells them. */
  def ofPaths(handle: DeltaHandle, paths: Set[String]): Map[DataFile.Id, AddFile] = {
    val ids = new FileIds(handle.snapshot)
    def found = if (areOnDriver(handle)) actions(handle, Some(paths)) else someByJob(handle, paths)
    if (paths.isEmpty) Map.empty else found.iterator.map(add => ids.idOf(add) -> add).toMap
  }

  /** Whether the driver finds them with their statistics, if it does not hold all. */
  private[files] def areOnDriver(handle: DeltaHandle): Boolean =
    DataFiles.excess(handle).isEmpty && hasStatistics(handle)

  /** Paths are in Delta's spelling there. */
  private def someByJob(handle: DeltaHandle, paths: Set[String]): Seq[AddFile] =
    handle.session.withActive(addsByJob(handle).filter((add: AddFile) => paths(add.path)).collect().toSeq)

  private def addsByJob(handle: DeltaHandle): Dataset[AddFile] =
    new JobReplay(handle.session, handle.snapshot)
      .adds(JobReplay.tasksFor(DriverBytes.ofLog(handle.snapshot)))

  private def actions(handle: DeltaHandle, paths: Option[Set[String]]): Seq[AddFile] = {
    val log = new DriverFiles(handle)
    val make = actionOf(paths.getOrElse(_ => true))
    log.inCommits(make) ++ log.inCheckpoint(DriverFiles.Add, paths)(make)
  }

  private def actionOf(wanted: String => Boolean): DriverFiles.Make[AddFile] = { _ =>
    val read = AddEncoder.createDeserializer()
    (add, path) =>
      Option.when(wanted(path.toString)) {
        NewFile.changed(DamagedAction.in(read(add)))(dataChange = false)
      }
  }

  private def obstacle(handle: DeltaHandle): Option[String] =
    DriverBytes.excess(handle.session, "the log takes", DriverBytes.ofLog(handle.snapshot))
      .orElse(Option.unless(hasStatistics(handle))(NoStatistics))

  /** By its footers: the table's properties may have changed since it was written. */
  private def hasStatistics(handle: DeltaHandle): Boolean = {
    val files = CheckpointFiles.all(handle.snapshot.checkpointProvider)
    CheckpointFooter
      .readAll(files.filterNot(CheckpointFiles.isJson), handle.hadoopConf)(_.hasStatistics)
      .forall(identity)
  }

  private[files] def asJob(handle: DeltaHandle, predicate: Seq[Expression], why: String): ActiveFiles =
    handle.session.withActive {
      val files = filtered(handle, predicate, addsByJob(handle))
      ActiveFiles(files, if (predicate.isEmpty) highestRowId(handle, files) else None, ReplayPlace.AsJob(why))
    }

  private def filtered(
      handle: DeltaHandle,
      predicate: Seq[Expression],
      files: Dataset[AddFile]
  ): Seq[AddFile] =
    DeltaLog.filterFileList(handle.snapshot.metadata.partitionSchema, files.toDF(), predicate).as[AddFile]
      .collect().toSeq

  private def highestRowId(handle: DeltaHandle, all: Seq[AddFile]): Option[Long] = {
    def last(add: AddFile) =
      for (first <- add.baseRowId; rows <- MergedStats.numRecords(add.stats)) yield first + rows - 1
    Option.when(RowId.isSupported(handle.snapshot.protocol)) {
      all.foldLeft(-1L)((highest, add) => math.max(highest, last(add).getOrElse(Long.MaxValue)))
    }
  }

  private val NoStatistics = "the checkpoint has no statistics as JSON"
  private val AddEncoder = encoderFor(addFileEncoder).resolveAndBind(toAttributes(DriverFiles.Add))
}
