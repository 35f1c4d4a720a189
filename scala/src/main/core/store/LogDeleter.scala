package io.deltaupkeep.store

import java.io.IOException
import java.util.concurrent.{Callable, Executors, ThreadLocalRandom}
import java.util.concurrent.atomic.AtomicLong

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.{CountText, DaemonThreads, UpkeepErrors, UpkeepException}
import io.deltaupkeep.log.{LogDirectory, LogFile}

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.internal.Logging

/**
 * What a cleanup deleted. Files that somebody else deleted first are not counted if the file system reports
 * them.
 */
final case class Deletions(files: Long, bytes: Long)

/**
 * Deletes files of a log in parallel: many per call if the file system supports `BulkDelete`, otherwise one.
 *
 * @param table   for error messages
 * @param threads largest number of threads; bulk deletion uses one eighth as many
 */
final class LogDeleter(
    fileSystem: FileSystem,
    logPath: Path,
    table: String,
    threads: Int
) extends Logging {
  import LogDeleter._

  private val files = new AtomicLong
  private val bytes = new AtomicLong

  /** What was deleted so far. */
  def deleted: Deletions = Deletions(files.get, bytes.get)

  /**
   * Deletes the phases in order.
   *
   * @throws io.deltaupkeep.UpkeepException `LOG_FILE_NOT_DELETED` if a file cannot be deleted after some
   *                                        tries; others that were being deleted just then may be gone.
   *                                        `LOG_DIRECTORY_IS_LINK` before anything is deleted
   */
  def delete(phases: Seq[IndexedSeq[LogFile]]): Deletions = {
    requireNoLinks(phases.iterator.flatten.map(_.directory).toSet - LogDirectory.Root)
    Using.resource(new DeletionRequests(fileSystem, logPath)) { requests =>
      val isBulk = requests.pageSize > 1
      val width = if (isBulk) math.max(1, threads / BulkShare) else threads
      val deletePage: Seq[LogFile] => Seq[Failed] = if (isBulk) deleteTogether(requests, _) else deleteEach
      val pool = Executors.newFixedThreadPool(width, DaemonThreads("delta-upkeep-delete"))
      try phases.foreach { phase =>
          // If the deletion stops, this keeps large gaps out of what is left.
          phase.iterator.grouped(requests.pageSize).grouped(width * CallsOfThread).foreach { pages =>
            val calls = pages.map(page => callable(attempt(deletePage, page, tries = 1)))
            pool.invokeAll(calls.asJava).asScala.flatMap(_.get).headOption.foreach(failed =>
              throw errorOf(failed)
            )
          }
        }
      finally pool.shutdownNow()
    }
    deleted
  }

  private def requireNoLinks(directories: Set[LogDirectory]): Unit =
    if (fileSystem.supportsSymlinks) directories.map(of => new Path(logPath, of.prefix)).foreach { path =>
      // The local file system takes a scheme as a part of the name.
      if (fileSystem.getFileLinkStatus(Path.getPathWithoutSchemeAndAuthority(path)).isSymlink)
        throw UpkeepErrors.logDirectoryIsLink(table, path.toString)
    }

  private def callable[T](work: => T): Callable[T] = () => work

  @tailrec
  private def attempt(
      deletePage: Seq[LogFile] => Seq[Failed],
      page: Seq[LogFile],
      tries: Int
  ): Option[Failed] = {
    val failed = deletePage(page)
    if (failed.isEmpty) None
    else if (tries == Tries) failed.headOption
    else {
      logWarning(
        s"The log of $table keeps ${CountText.of(failed.size, "file")} that could not be deleted: ${failed.head.problem}"
      )
      Thread.sleep((FirstWaitMs << tries) + ThreadLocalRandom.current().nextLong(FirstWaitMs))
      attempt(deletePage, failed.map(_.file), tries + 1)
    }
  }

  private def deleteTogether(requests: DeletionRequests, page: Seq[LogFile]): Seq[Failed] = {
    val byPath = page.map(file => pathOf(file) -> file).toMap
    val failed =
      try
        requests.delete(byPath.keys.toSeq).map { case (path, problem) =>
          Failed(byPath(path), problem, None)
        }
      catch { case e: IOException => page.map(Failed(_, e.getMessage, Some(e))) }
    val failedFiles = failed.map(_.file).toSet
    page.filterNot(failedFiles).foreach(count)
    failed
  }

  private def deleteEach(page: Seq[LogFile]): Seq[Failed] = page.flatMap { file =>
    val path = pathOf(file)
    try
      if (fileSystem.delete(path, false)) {
        count(file)
        None
      } else Option.when(fileSystem.exists(path))(Failed(file, "it is still there", None))
    catch { case e: IOException => Some(Failed(file, e.getMessage, Some(e))) }
  }

  private def count(file: LogFile): Unit = {
    files.incrementAndGet()
    bytes.addAndGet(file.sizeInBytes)
    ()
  }

  private def pathOf(file: LogFile): Path = new Path(logPath, file.path)

  private def errorOf(failed: Failed): UpkeepException =
    UpkeepErrors.logFileNotDeleted(
      table,
      pathOf(failed.file).toString,
      failed.problem,
      files.get,
      failed.thrown
    )
}

private object LogDeleter {

  private final case class Failed(file: LogFile, problem: String, thrown: Option[Throwable])

  /** Stores count each file of a bulk call against the same limit. */
  private val BulkShare = 8
  private val CallsOfThread = 8
  private val Tries = 4

  /** Doubled with each try. */
  private val FirstWaitMs = 50L
}
