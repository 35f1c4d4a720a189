package org.apache.spark.sql.delta.upkeep.state

import scala.collection.mutable
import scala.util.control.NonFatal

import io.deltaupkeep.parquet.bytes.UnreadableInput

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.encoderFor
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.delta.actions.{Action, AddFile, RemoveFile}
import org.apache.spark.sql.delta.implicits.addFileEncoder
import org.apache.spark.sql.delta.upkeep.read.{CheckpointRows, DeltaLogReader, FileKey, LastCheckpoint}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.NewFile
import org.apache.spark.sql.types.StructType

/**
 * Replays the files of a table on the driver, without a Spark job: the commits since the last checkpoint, the
 * newest first, and then the checkpoint. The first action found for a file is kept (protocol, 'Action
 * Reconciliation').
 *
 * Memory: about 1 KB for each file of the table, and 150 bytes for each that the commits name.
 */
private[upkeep] final class FileReplay(handle: DeltaHandle) {
  import FileReplay._

  private val snapshot = handle.snapshot
  private val session = handle.session.asInstanceOf[ClassicSession]
  private val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
  private val named = mutable.HashSet.empty[FileKey]

  /**
   * The files, with their paths as the log spells them, and otherwise as a checkpoint has them.
   *
   * @throws io.deltaupkeep.parquet.bytes.UnreadableInput a file of the log is missing or damaged
   */
  def files(): Seq[AddFile] = {
    val found = Vector.newBuilder[AddFile]
    snapshot.logSegment.deltas.reverseIterator.foreach { commit =>
      actionsOf(commit).foreach {
        case add: AddFile if named.add(keyOf(add)) => found += NewFile.changed(add)(dataChange = false)
        case remove: RemoveFile => named += key(remove.path, remove.getDeletionVectorUniqueId)
        case _ =>
      }
    }
    LastCheckpoint.allFilesOf(snapshot.checkpointProvider).foreach { file =>
      addsOf(file).filterNot(add => named(keyOf(add))).foreach(found += _)
    }
    found.result()
  }

  private def keyOf(add: AddFile): FileKey = key(add.path, add.getDeletionVectorUniqueId)

  private def key(path: String, deletionVector: Option[String]): FileKey =
    FileKey(FileKey.respelled(path, canonical), deletionVector)

  private def actionsOf(json: FileStatus): Seq[Action] =
    reading(json.getPath)(new DeltaLogReader(handle).actions(json.getPath))

  /** The adds of a file of the checkpoint, which may be JSON. */
  private def addsOf(file: FileStatus): Iterator[AddFile] =
    if (file.getPath.getName.endsWith(".json"))
      actionsOf(file).iterator.collect { case add: AddFile => add }
    else
      reading(file.getPath) {
        val rows = checkpoint.in(file)
        Iterator.continually(reading(file.getPath)(Option.when(rows.hasNext)(rows.next())))
          .takeWhile(_.isDefined).flatten
          .filterNot(_.isNullAt(0))
          .map(row => toAdd(row.getStruct(0, AddFields.size)))
      }

  private lazy val checkpoint =
    new CheckpointRows(StructType(Seq(Action.logSchema("add"))), session, handle.hadoopConf)

  private lazy val toAdd: InternalRow => AddFile =
    encoderFor(addFileEncoder).resolveAndBind(toAttributes(AddFields)).createDeserializer()

  private def reading[T](file: Path)(read: => T): T =
    try read
    catch { case NonFatal(e) => throw new UnreadableInput(file.toString, e) }
}

private object FileReplay {
  private val AddFields = Action.logSchema("add").dataType.asInstanceOf[StructType]
}
