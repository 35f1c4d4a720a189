package io.deltaupkeep.store

import java.io.FileNotFoundException
import java.util.concurrent.{Callable, ExecutionException, ExecutorCompletionService, Executors}

import scala.collection.mutable

import io.deltaupkeep.DaemonThreads

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path, RemoteIterator}

/**
 * Lists the files below a directory, several directories at a time, each page by page. S3 also lists all keys with a
 * prefix, a thousand in a request: a directory that has many directories with few files in each is listed that way.
 *
 * @param isHidden whether a file or a directory is left out; several threads ask
 * @param expected about how many files there are
 */
final class TableListing(
    fileSystem: FileSystem,
    root: Path,
    isHidden: Path => Boolean,
    threads: Int,
    expected: Long
) {
  import TableListing._

  private val hasKeys = fileSystem.getUri.getScheme == "s3a"

  /**
   * Calls both functions in several threads at once.
   *
   * @param file  takes each file
   * @param empty takes each directory below the root that has nothing in it; S3 has none
   * @return the number of directories, the root included
   */
  def foreach(file: FileStatus => Unit, empty: FileStatus => Unit): Long = {
    val pool = Executors.newFixedThreadPool(threads, DaemonThreads("delta-upkeep-list"))
    try {
      val completed = new ExecutorCompletionService[Listed](pool)
      def submit(list: => Listed): Unit = {
        val task: Callable[Listed] = () => list
        completed.submit(task)
        ()
      }
      def submitDirectory(path: Path, status: Option[FileStatus]): Unit =
        submit(list(path, file, () => status.foreach(empty)))
      submitDirectory(root, None)
      var (directories, submitted, done) = (0L, 1L, 0L)
      while (done < submitted) {
        val listed =
          try completed.take().get()
          catch { case failed: ExecutionException => throw failed.getCause }
        done += 1
        directories += listed.directories
        if (hasFewFilesEach(listed.below)) {
          submit(listKeys(listed.path, file))
          submitted += 1
        } else {
          listed.below.foreach(directory => submitDirectory(directory.getPath, Some(directory)))
          submitted += listed.below.size
        }
      }
      directories
    } finally DaemonThreads.stop(pool)
  }

  /** Pages of keys come one after the other, and directories side by side. */
  private def hasFewFilesEach(directories: Seq[FileStatus]): Boolean =
    hasKeys && directories.size >= ManyDirectories &&
      expected / KeysOfPage < directories.size / threads

  private def list(path: Path, file: FileStatus => Unit, empty: () => Unit): Listed = {
    val directories = mutable.ArrayBuffer.empty[FileStatus]
    var isEmpty = true
    for (found <- entries(fileSystem.listStatusIterator(path))) {
      while (next(found)) {
        val status = found.next()
        isEmpty = false
        if (!isHidden(status.getPath))
          if (status.isDirectory) directories += status else file(status)
      }
      if (isEmpty) empty()
    }
    Listed(path, 1, directories.toSeq)
  }

  /** Lists what is below a directory, without the files in it. */
  private def listKeys(path: Path, file: FileStatus => Unit): Listed = {
    val shown = mutable.HashMap(path -> true)
    def isShown(directory: Path): Boolean =
      directory != null &&
        shown.getOrElseUpdate(directory, isShown(directory.getParent) && !isHidden(directory))
    for (found <- entries(fileSystem.listFiles(path, true)))
      while (next(found)) {
        val status = found.next()
        val directory = status.getPath.getParent
        if (directory != path && isShown(directory) && !isHidden(status.getPath)) file(status)
      }
    Listed(path, shown.values.count(identity) - 1L, Nil)
  }

  /** None if somebody has deleted the directory meanwhile. */
  private def entries[S <: FileStatus](found: => RemoteIterator[S]): Option[RemoteIterator[S]] =
    try Some(found)
    catch { case _: FileNotFoundException => None }

  /** Some file systems report only with the first page that there is no directory. */
  private def next(found: RemoteIterator[_]): Boolean =
    try found.hasNext
    catch { case _: FileNotFoundException => false }
}

private object TableListing {

  /** What a request has found: how many directories, and those still to be listed. */
  private final case class Listed(path: Path, directories: Long, below: Seq[FileStatus])

  /** Fewer are listed in no time. */
  private val ManyDirectories = 256
  private val KeysOfPage = 1000
}
