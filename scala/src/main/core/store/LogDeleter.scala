package io.deltaupkeep.store

import scala.util.Using

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.log.{LogDirectory, LogFile}

import org.apache.hadoop.fs.{FileSystem, Path}

/**
 * Deletes files of a log.
 *
 * @param table   for error messages
 * @param threads as of [[FileDeleter]]
 */
final class LogDeleter(fileSystem: FileSystem, logPath: Path, table: String, threads: Int) {

  @volatile private var done = Deletions(0, 0)

  /** What was deleted so far. */
  def deleted: Deletions = done

  /**
   * Deletes the phases in order.
   *
   * @throws io.deltaupkeep.UpkeepException `LOG_FILE_NOT_DELETED` if a file cannot be deleted after some
   *                                        tries; others that were being deleted just then may be gone.
   *                                        `LOG_DIRECTORY_IS_LINK` before anything is deleted
   */
  def delete(phases: Seq[IndexedSeq[LogFile]]): Deletions = {
    requireNoLinks(phases.iterator.flatten.map(_.directory).toSet - LogDirectory.Root)
    Using.resource(
      new FileDeleter[LogFile](fileSystem, logPath, s"The log of $table", threads, pathOf, _.sizeInBytes)
    ) { deleter =>
      try
        phases.foreach { phase =>
          deleter.delete(phase.iterator).headOption.foreach { failed =>
            throw UpkeepErrors.logFileNotDeleted(
              table,
              pathOf(failed.file).toString,
              failed.problem,
              deleter.deleted.files,
              failed.thrown
            )
          }
        }
      finally done = deleter.deleted
    }
    done
  }

  private def requireNoLinks(directories: Set[LogDirectory]): Unit =
    if (fileSystem.supportsSymlinks) directories.map(of => new Path(logPath, of.prefix)).foreach { path =>
      // The local file system takes a scheme as a part of the name.
      if (fileSystem.getFileLinkStatus(Path.getPathWithoutSchemeAndAuthority(path)).isSymlink)
        throw UpkeepErrors.logDirectoryIsLink(table, path.toString)
    }

  private def pathOf(file: LogFile): Path = new Path(logPath, file.path)
}
