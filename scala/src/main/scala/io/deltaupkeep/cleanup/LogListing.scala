package io.deltaupkeep.cleanup

import java.io.FileNotFoundException

import org.apache.hadoop.fs.{FileSystem, Path, RemoteIterator}

/** Lists `_delta_log` and the two directories in it that the protocol knows. Three listings, by page. */
object LogListing {

  def of(fileSystem: FileSystem, logPath: Path): Seq[LogFile] =
    Seq(LogDirectory.Root, LogDirectory.Sidecars, LogDirectory.StagedCommits).flatMap { directory =>
      val path = if (directory.prefix.isEmpty) logPath else new Path(logPath, directory.prefix)
      filesIn(fileSystem, path, directory)
    }

  private def filesIn(fileSystem: FileSystem, path: Path, directory: LogDirectory): Seq[LogFile] =
    try
      iterate(fileSystem.listStatusIterator(path))
        .filter(_.isFile)
        .map(s => LogFile(directory, s.getPath.getName, s.getLen, s.getModificationTime))
        .toVector
    catch { case _: FileNotFoundException => Vector.empty }

  private def iterate[T](remote: RemoteIterator[T]): Iterator[T] = new Iterator[T] {
    override def hasNext: Boolean = remote.hasNext
    override def next(): T = remote.next()
  }
}
