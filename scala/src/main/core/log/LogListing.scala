package io.deltaupkeep.log

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

/**
 * Lists `_delta_log` and the two directories in it that the protocol defines: three listings, read page by
 * page.
 */
object LogListing {

  def of(fileSystem: FileSystem, logPath: Path): ListedFiles = {
    val directories = Iterator(LogDirectory.Root, LogDirectory.Sidecars, LogDirectory.StagedCommits)
    ListedFiles.of(directories.flatMap { directory =>
      val path = if (directory.prefix.isEmpty) logPath else new Path(logPath, directory.prefix)
      filesIn(fileSystem, path, directory)
    })
  }

  private def filesIn(fileSystem: FileSystem, path: Path, directory: LogDirectory): Iterator[LogFile] =
    iterate(fileSystem, path)
      .filter(_.isFile)
      .map(file => LogFile(directory, file.getPath.getName, file.getLen, file.getModificationTime))

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
