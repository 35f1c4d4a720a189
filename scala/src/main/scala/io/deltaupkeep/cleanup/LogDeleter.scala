package io.deltaupkeep.cleanup

import java.io.IOException

import io.deltaupkeep.UpkeepErrors

import org.apache.hadoop.fs.{FileSystem, Path}

/** What a cleanup removed; a file that somebody else had removed counts in neither number. */
final case class Deletions(files: Long, bytes: Long)

/** Deletes the files of a plan in its order, so that stopping anywhere leaves a readable table. */
object LogDeleter {

  /** @throws UpkeepException `LOG_FILE_NOT_DELETED` at the first file that cannot be deleted */
  def delete(fileSystem: FileSystem, logPath: Path, table: String, files: Seq[LogFile]): Deletions =
    files.foldLeft(Deletions(0, 0)) { (done, file) =>
      if (deleted(fileSystem, new Path(logPath, file.path), table))
        Deletions(done.files + 1, done.bytes + file.sizeInBytes)
      else done
    }

  private def deleted(fileSystem: FileSystem, path: Path, table: String): Boolean =
    try
      fileSystem.delete(path, false) || {
        if (fileSystem.exists(path)) throw UpkeepErrors.logFileNotDeleted(table, path.toString, None)
        false
      }
    catch { case e: IOException => throw UpkeepErrors.logFileNotDeleted(table, path.toString, Some(e)) }
}
