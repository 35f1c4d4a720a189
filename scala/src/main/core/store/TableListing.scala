package io.deltaupkeep.store

import java.io.FileNotFoundException
import java.util.concurrent.{Callable, ExecutionException, ExecutorCompletionService, Executors}

import scala.collection.mutable

import io.deltaupkeep.DaemonThreads

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path, RemoteIterator}

/**
 * Lists the files below a directory, several directories at a time, each page by page.
 *
 * @param isHidden whether a file or a directory is left out; several threads ask
 */
final class TableListing(fileSystem: FileSystem, root: Path, isHidden: FileStatus => Boolean, threads: Int) {

  /**
   * Calls both functions in several threads at once.
   *
   * @param file  takes each file
   * @param empty takes each directory below the root that has nothing in it
   * @return the number of directories, the root included
   */
  def foreach(file: FileStatus => Unit, empty: FileStatus => Unit): Long = {
    val pool = Executors.newFixedThreadPool(threads, DaemonThreads("delta-upkeep-list"))
    try {
      val completed = new ExecutorCompletionService[Seq[FileStatus]](pool)
      def submit(path: Path, status: Option[FileStatus]): Unit = {
        val task: Callable[Seq[FileStatus]] = () => list(path, file, () => status.foreach(empty))
        completed.submit(task)
        ()
      }
      submit(root, None)
      var (listed, submitted) = (0L, 1L)
      while (listed < submitted) {
        val below =
          try completed.take().get()
          catch { case failed: ExecutionException => throw failed.getCause }
        below.foreach(directory => submit(directory.getPath, Some(directory)))
        listed += 1
        submitted += below.size
      }
      listed
    } finally DaemonThreads.stop(pool)
  }

  /** Returns the directories in a directory. */
  private def list(path: Path, file: FileStatus => Unit, empty: () => Unit): Seq[FileStatus] = {
    val directories = mutable.ArrayBuffer.empty[FileStatus]
    var isEmpty = true
    for (found <- entries(path)) {
      while (next(found)) {
        val status = found.next()
        isEmpty = false
        if (!isHidden(status))
          if (status.isDirectory) directories += status else file(status)
      }
      if (isEmpty) empty()
    }
    directories.toSeq
  }

  /** None if somebody has deleted the directory meanwhile. */
  private def entries(path: Path): Option[RemoteIterator[FileStatus]] =
    try Some(fileSystem.listStatusIterator(path))
    catch { case _: FileNotFoundException => None }

  /** Some file systems report only with the first page that there is no directory. */
  private def next(found: RemoteIterator[FileStatus]): Boolean =
    try found.hasNext
    catch { case _: FileNotFoundException => false }
}
