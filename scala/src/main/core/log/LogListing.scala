package io.deltaupkeep.log

import java.io.FileNotFoundException

import scala.collection.mutable

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

/**
 * Lists `_delta_log` page by page, and the two directories in it that the protocol defines if they are there: the
 * listing of a missing directory takes three requests to an object store.
 */
object LogListing {

  def of(fileSystem: FileSystem, logPath: Path): ListedFiles = {
    val directories = mutable.Set.empty[String]
    def filesIn(directory: LogDirectory, path: Path): Iterator[LogFile] =
      iterate(fileSystem, path).flatMap { status =>
        if (!status.isFile) directories += status.getPath.getName + Path.SEPARATOR
        Option.when(status.isFile)(fileOf(directory, status))
      }
    def filesBelow: Iterator[LogFile] = Iterator(LogDirectory.Sidecars, LogDirectory.StagedCommits)
      .filter(directory => directories(directory.prefix))
      .flatMap(directory => filesIn(directory, new Path(logPath, directory.prefix)))
    ListedFiles.of(filesIn(LogDirectory.Root, logPath) ++ filesBelow)
  }

  private def fileOf(directory: LogDirectory, file: FileStatus): LogFile =
    LogFile(directory, file.getPath.getName, file.getLen, file.getModificationTime)

  /**
   * Lists page by page. Empty if there is no such directory, which some file systems report only with the
   * first page.
   */
  private def iterate(fileSystem: FileSystem, path: Path): Iterator[FileStatus] = {
    val remote =
      try {
        val found = fileSystem.listStatusIterator(path)
        Option.when(found.hasNext)(found)
      } catch { case _: FileNotFoundException => None }
    new Iterator[FileStatus] {
      override def hasNext: Boolean = remote.exists(_.hasNext)
      override def next(): FileStatus = remote.get.next()
    }
  }
}
