package org.apache.spark.sql.delta.upkeep.vacuum

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.vacuum.{NameSet, TableNames}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, DriverBytes, FilePaths}
import org.apache.spark.sql.delta.upkeep.state.{
  CheckpointActions,
  DriverReplay,
  FileActions,
  JobReplay,
  KeyedAction
}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.functions.{coalesce, col, lit}
import org.apache.spark.sql.types.StructType

/**
 * Finds the names of all files that versions inside the retention need: those of the newest version, and those that
 * were removed since the cutoff. The driver holds 8 bytes for each, and twice as many for those that were removed. It
 * replays the log unless that is too large.
 *
 * @param cutoff milliseconds since the epoch
 * @param latest later removals have a wrong time
 */
private[vacuum] final class NamedFiles(handle: DeltaHandle, names: FileNames, cutoff: Long, latest: Long) {
  import NamedFiles._

  private val snapshot = handle.snapshot
  private val session = handle.session
  private val checkpoint = new CheckpointActions(handle, Columns)
  private val (kept, expired) = (new NameSet.Builder, new NameSet.Builder)
  private val (removedSince, removedInside) = (new NameSet.Builder, new NameSet.Builder)
  private val logBytes = DriverBytes.ofLog(snapshot)
  private val stores = ConcurrentHashMap.newKeySet[String]()

  /**
   * @param isInside whether a version is inside the retention
   * @throws io.deltaupkeep.UpkeepException `FILES_ELSEWHERE`
   */
  def find(changes: CommitChanges)(isInside: Long => Boolean): TableNames = {
    val found = findAnywhere(changes)(isInside)
    stores.asScala.foreach(requireApart)
    found
  }

  /** Wherever the log names files. */
  def findAnywhere(changes: CommitChanges)(isInside: Long => Boolean): TableNames = {
    if (DriverBytes.excess(session, "the log takes", logBytes).isEmpty) onDriver() else asJob()
    changes.foreach(isInside) { change =>
      val removed = names.of(change.path, change.vector.map(vector => vector.storage -> vector.place))
      kept.add(removed)
      removedInside.add(removed)
    }
    val isLate = !removedSince.result().isSubsetOf(removedInside.result())
    TableNames(kept.result(), expired.result(), hasLateRemovals = isLate)
  }

  /**
   * One store may show the files of another under other paths. Then they would look as if nothing named them. Delta
   * refuses it too.
   */
  private def requireApart(store: String): Unit =
    if (!session.sessionState.conf.getConf(DeltaSQLConf.DELTA_VACUUM_RELATIVIZE_IGNORE_ERROR)) {
      val root = snapshot.deltaLog.dataPath
      try root.getFileSystem(handle.hadoopConf).makeQualified(new Path(store))
      catch {
        case _: IllegalArgumentException =>
          throw UpkeepErrors.filesElsewhere(handle.name, store, root.toString)
      }
      ()
    }

  private def onDriver(): Unit = {
    val commits = new DriverReplay(handle, session, snapshot)
    commits.all { () => action =>
      if (action.file.nonEmpty) add(KeyedAction.Files, action.row)
      None
    }
    val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
    checkpoint.parts(CheckpointFiles.all(snapshot.checkpointProvider)) { (file, foreach) =>
      val actions = if (CheckpointFiles.isJson(file)) KeyedAction.Files else InParquet
      foreach { row =>
        if (actions.has(row)) {
          val path = FilePaths.respelled(actions.path(row), canonical)
          if (!commits.names(actions.key(row, path))) add(actions, row)
        }
      }
    }
    ()
  }

  private def add(actions: FileActions, row: InternalRow): Unit = {
    // Delta keeps what was removed just then.
    val set = if (actions.isExpired(row, cutoff - 1)) expired else kept
    val path = actions.path(row).toString
    val vector = actions.vector(row).map { case (storage, place) => storage.toString -> place.toString }
    val named = names.of(path, vector)
    set.add(named)
    if (set == kept && actions.isExpired(row, latest)) removedSince.add(named)
    names.stores(path, vector).foreach(stores.add)
  }

  private def asJob(): Unit = session.withActive {
    val (names, cutoff) = (this.names, this.cutoff)
    def either(field: String) = coalesce(col(s"add.$field"), col(s"remove.$field"))
    val files = new JobReplay(session, snapshot).actions(JobReplay.tasksFor(logBytes), unexpired = cutoff - 1)
      .where(col("add.path").isNotNull || col("remove.path").isNotNull)
      .select(
        either("path").as("path"),
        either("deletionVector.storageType").as("storageType"),
        either("deletionVector.pathOrInlineDv").as("vector"),
        (col("add.path").isNull && coalesce(col("remove.deletionTimestamp") <= latest, lit(false))).as(
          "isRemoved"
        )
      )
    val hashes = files.flatMap { (row: Row) =>
      names.of(pathOf(row), vectorOf(row)).map(NameSet.hash(_, isMarked = row.getBoolean(3)))
    }(Encoders.scalaLong).collect()
    kept.addHashes(hashes)
    removedSince.addHashes(hashes.filter(NameSet.isMarked))
    // Few of them are absolute.
    files.where(col("path").contains(":") || col("storageType") === FileNames.Absolute)
      .flatMap((row: Row) => names.stores(pathOf(row), vectorOf(row)))(Encoders.STRING)
      .distinct().collect().foreach(stores.add)
  }
}

private[vacuum] object NamedFiles {
  private val Columns: StructType = StructType(Seq(
    picked("add", "path", "deletionVector"),
    picked("remove", "path", "deletionTimestamp", "deletionVector")
  ))

  private[vacuum] def picked(action: String, fields: String*) = {
    val whole = Action.logSchema(action)
    val all = whole.dataType.asInstanceOf[StructType]
    whole.copy(dataType = StructType(fields.map(all(_))))
  }

  private val InParquet = new FileActions(Columns)

  private def pathOf(row: Row): String = row.getString(0)

  private def vectorOf(row: Row): Option[(String, String)] =
    Option.when(!row.isNullAt(1) && !row.isNullAt(2))(row.getString(1) -> row.getString(2))
}
