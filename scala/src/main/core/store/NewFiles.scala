package io.deltaupkeep.store

import scala.util.control.NonFatal

import io.deltaupkeep.Uninterrupted

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging

/** Deletes data files that were written and will not be committed. */
object NewFiles extends Logging {

  /** Best effort: no version of the table has such a file, and VACUUM removes it. */
  def remove(files: Seq[Path], conf: Configuration): Unit = files.foreach { file =>
    try {
      // As the user of this thread.
      val fileSystem = file.getFileSystem(conf)
      Uninterrupted(fileSystem.delete(file, false))
    } catch { case NonFatal(e) => logWarning(s"The uncommitted file $file stays until VACUUM", e) }
  }
}
