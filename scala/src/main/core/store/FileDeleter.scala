package io.deltaupkeep.store

import java.io.IOException
import java.util.concurrent.{Callable, ExecutionException, Executors, ThreadLocalRandom}
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.deltaupkeep.{CountText, DaemonThreads}

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.internal.Logging

/** What was deleted. Files that somebody else deleted first are not counted if the file system reports them. */
final case class Deletions(files: Long, bytes: Long)

/** A file that could not be deleted, and why. */
final case class NotDeleted[F](file: F, problem: String, thrown: Option[Throwable]) {

  /** Whether the file system takes no such name, as Hadoop's local one none with a colon, whatever is tried. */
  def isBadName: Boolean = thrown.exists(_.isInstanceOf[IllegalArgumentException])
}

/**
 * Deletes files in parallel: many per call if the file system supports `BulkDelete`, otherwise one. Tries again what
 * fails, a few times.
 *
 * @param below   the directory of the files
 * @param owner   whose files they are, for warnings
 * @param threads largest number of threads; bulk deletion uses one eighth as many
 */
final class FileDeleter[F](
    fileSystem: FileSystem,
    below: Path,
    owner: String,
    threads: Int,
    pathOf: F => Path,
    sizeOf: F => Long
) extends AutoCloseable
    with Logging {
  import FileDeleter._

  private val files = new AtomicLong
  private val bytes = new AtomicLong
  private val requests = new DeletionRequests(fileSystem, below)
  private val isBulk = requests.pageSize > 1
  private val width = if (isBulk) math.max(1, threads / BulkShare) else threads
  private val pool = Executors.newFixedThreadPool(width, DaemonThreads("delta-upkeep-delete"))

  /** What was deleted so far. */
  def deleted: Deletions = Deletions(files.get, bytes.get)

  /**
   * Deletes files, roughly in their order.
   *
   * @param mostFailures other than for bad names, end the work; what was begun by then is done
   * @return what could not be deleted
   */
  def delete(some: Iterator[F], mostFailures: Int = 1): Seq[NotDeleted[F]] = {
    val deletePage: Seq[F] => Seq[NotDeleted[F]] = if (isBulk) deleteTogether else deleteEach
    val failed = mutable.ArrayBuffer.empty[NotDeleted[F]]
    // If the deletion stops, this keeps large gaps out of what is left.
    val groups = some.grouped(requests.pageSize).grouped(width * CallsOfThread)
    while (groups.hasNext && failed.count(!_.isBadName) < mostFailures) {
      val calls = groups.next().map(page => callable(attempt(deletePage, page, tries = 1)))
      failed ++= pool.invokeAll(calls.asJava).asScala.flatMap { done =>
        try done.get()
        catch { case thrown: ExecutionException => throw thrown.getCause }
      }
    }
    failed.toSeq
  }

  override def close(): Unit =
    try DaemonThreads.stop(pool)
    finally requests.close()

  private def callable[T](work: => T): Callable[T] = () => work

  private def attempt(
      deletePage: Seq[F] => Seq[NotDeleted[F]],
      page: Seq[F],
      tries: Int
  ): Seq[NotDeleted[F]] = {
    val (hopeless, failed) = deletePage(page).partition(_.isBadName)
    if (failed.isEmpty || tries == Tries) hopeless ++ failed
    else {
      logWarning(
        s"$owner keeps ${CountText.of(failed.size, "file")} that could not be deleted: ${failed.head.problem}"
      )
      Thread.sleep((FirstWaitMs << tries) + ThreadLocalRandom.current().nextLong(FirstWaitMs))
      hopeless ++ attempt(deletePage, failed.map(_.file), tries + 1)
    }
  }

  private def deleteTogether(page: Seq[F]): Seq[NotDeleted[F]] = {
    val byPath = page.map(file => pathOf(file) -> file).toMap
    try {
      val failed = requests.delete(byPath.keys.toSeq).map { case (path, problem) =>
        NotDeleted(byPath(path), problem, None)
      }
      page.filterNot(failed.map(_.file).toSet).foreach(count)
      failed
    } catch {
      case e: IOException => page.map(NotDeleted(_, e.getMessage, Some(e)))
      // One name spoils the request.
      case _: IllegalArgumentException => deleteEach(page)
    }
  }

  private def deleteEach(page: Seq[F]): Seq[NotDeleted[F]] = page.flatMap { file =>
    val path = pathOf(file)
    try
      if (fileSystem.delete(path, false)) {
        count(file)
        None
      } else Option.when(fileSystem.exists(path))(NotDeleted(file, "it is still there", None))
    catch {
      case e @ (_: IOException | _: IllegalArgumentException) =>
        Some(NotDeleted(file, e.getMessage, Some(e)))
    }
  }

  private def count(file: F): Unit = {
    files.incrementAndGet()
    bytes.addAndGet(sizeOf(file))
    ()
  }
}

private object FileDeleter {

  /** Stores count each file of a bulk call against the same limit. */
  private val BulkShare = 8
  private val CallsOfThread = 8
  private val Tries = 4

  /** Doubled with each try. */
  private val FirstWaitMs = 50L
}
