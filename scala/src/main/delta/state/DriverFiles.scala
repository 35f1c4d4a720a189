package org.apache.spark.sql.delta.upkeep.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.read.{CheckpointFiles, FilePaths}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The files of a table, found on the driver: in the commits since the last checkpoint, and then in the
 * checkpoint, by several threads.
 */
private[upkeep] final class DriverFiles(handle: DeltaHandle) {
  import DriverFiles._

  private val snapshot = handle.snapshot
  private val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
  private lazy val commits = new DriverReplay(handle, handle.session, snapshot)

  /**
   * The results of a function for the files that commits since the last checkpoint add. Call it once, and before
   * [[inCheckpoint]].
   *
   * @param make the function, for adds with some fields, for one thread; it takes an add, which is valid until the next one,
   *             and its path in Delta's spelling
   * @throws io.deltaupkeep.UnreadableInput a file of the log is missing or damaged
   */
  def inCommits[A](make: Make[A]): Seq[A] = commits.all { () =>
    val read = make(InJson.fields)
    action => action.file.filter(_ => InJson.has(action.row)).flatMap(read(InJson.action(action.row), _))
  }

  /**
   * The same for the files that only the checkpoint names.
   *
   * @param fields that are read of its Parquet files
   * @param paths  if few files are wanted: their paths in Delta's spelling. Others may come too.
   */
  def inCheckpoint[A](fields: StructType, paths: Option[Set[String]] = None)(make: Make[A]): Seq[A] = {
    val columns = ofAdd(fields)
    val inParquet = new FileColumn(columns, "add")
    new CheckpointActions(handle, columns, paths.map(wanted)).parts(
      CheckpointFiles.all(snapshot.checkpointProvider)
    ) {
      (file, foreach) =>
        val column = if (CheckpointFiles.isJson(file)) InJson else inParquet
        val read = make(column.fields)
        val found = Vector.newBuilder[A]
        foreach { row =>
          if (column.has(row)) {
            val path = FilePaths.respelled(column.path(row), canonical)
            if (!commits.names(column.key(row, path))) found ++= read(column.action(row), path)
          }
        }
        found.result()
    }.flatten
  }

  private def wanted(paths: Set[String]): (StructType, InternalRow => Boolean) = {
    val columns = ofAdd(fields("path", "deletionVector"))
    val add = new FileColumn(columns, "add")
    columns -> (row => add.has(row) && paths(FilePaths.respelled(add.path(row), canonical).toString))
  }
}

private[upkeep] object DriverFiles {
  type Make[A] = StructType => (InternalRow, UTF8String) => Option[A]

  /** Of an add in Delta's log. */
  val Add: StructType = Action.logSchema("add").dataType.asInstanceOf[StructType]

  def fields(names: String*): StructType = StructType(names.map(Add(_)))

  private def ofAdd(fields: StructType): StructType =
    StructType(Seq(Action.logSchema("add").copy(dataType = fields)))

  private val InJson = new FileColumn(CommitParser.Schema, "add")
}
