package org.apache.spark.sql.delta.upkeep.optimize

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.DeltaFileOperations

/** Deletes data files that were written and will not be committed. */
private[upkeep] object NewFiles extends Logging {

  /** Best effort: no version of the table has such a file, and VACUUM removes it. */
  def remove(handle: DeltaHandle, adds: Seq[AddFile]): Unit = {
    val fileSystem = handle.snapshot.dataPath.getFileSystem(handle.hadoopConf)
    adds.foreach { add =>
      val file: Path = DeltaFileOperations.absolutePath(handle.path, add.path)
      try fileSystem.delete(file, false)
      catch { case NonFatal(e) => logWarning(s"The uncommitted file $file stays until VACUUM", e) }
    }
  }
}
