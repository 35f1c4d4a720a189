package org.apache.spark.sql.delta.upkeep.state

import io.deltaupkeep.UnreadableInput

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.encoderFor
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.implicits.addFileEncoder
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, FilePaths}
import org.apache.spark.sql.delta.upkeep.table.{DamagedAction, DeltaHandle}
import org.apache.spark.sql.delta.upkeep.versions.NewFile
import org.apache.spark.sql.types.StructType

/**
 * The files of a table, found on the driver: in the commits since the last checkpoint, and then in the
 * checkpoint.
 */
private[upkeep] final class DriverFiles(handle: DeltaHandle) {
  import DriverFiles._

  private val snapshot = handle.snapshot
  private val session = handle.session
  private val checkpoint = new CheckpointActions(handle, Columns)
  private val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)

  /**
   * Calls `use` with each file: its path as the log spells it, all else as a checkpoint would hold it.
   *
   * @throws io.deltaupkeep.UnreadableInput a file of the log is missing or damaged
   */
  def foreach(use: AddFile => Unit): Unit = {
    val commits = new DriverReplay(handle, session, snapshot)
    commits.all { () =>
      val add = reader
      action => Option.when(InJson.has(action.row))(add(InJson.action(action.row)))
    }.foreach(file => use(NewFile.changed(file)(dataChange = false)))
    val add = reader
    CheckpointFiles.all(snapshot.checkpointProvider).foreach { file =>
      val column = if (CheckpointFiles.isJson(file)) InJson else InParquet
      UnreadableInput.naming(file.getPath.toString) {
        checkpoint.foreach(file) { row =>
          if (column.has(row)) {
            val key = column.key(row, FilePaths.respelled(column.path(row), canonical))
            if (!commits.names(key)) use(add(column.action(row)))
          }
        }
      }
    }
  }

  /** Not thread-safe. */
  private def reader: InternalRow => AddFile = {
    val read = AddEncoder.createDeserializer()
    row => DamagedAction.in(read(row))
  }
}

private object DriverFiles {
  private val Columns = StructType(Seq(Action.logSchema("add")))
  private val InParquet = new FileColumn(Columns, "add")
  private val AddEncoder = encoderFor(addFileEncoder).resolveAndBind(toAttributes(InParquet.fields))
  private val InJson = new FileColumn(CommitParser.Schema, "add")
}
