package io.deltaupkeep.store

import java.io.FileNotFoundException
import java.net.URI
import java.nio.file.Files
import java.nio.file.attribute.BasicFileAttributes
import java.util
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.statistics.IOStatistics

/**
 * The local file system as a store far away, `latency:///path`: every call sleeps for `fs.latency.ms` and is
 * counted by its kind. Lists by pages of `fs.latency.list.page` files (1,000), and deletes `fs.latency.bulk.page`
 * files (1) in a call.
 */
class LatencyFileSystem extends RequestFileSystem("latency") {
  import LatencyFileSystem._

  private def setting(name: String, default: Int): Int = getConf.getInt(s"fs.latency.$name", default)

  private lazy val delayMs = setting("ms", 0)
  private lazy val listPage = setting("list.page", 1000)
  private lazy val bulkPage = setting("bulk.page", 1)

  override protected def request[T](kind: String, path: Path)(body: => T): T = {
    countAndWait(kind)
    val done = body
    // A listing takes a request for each page of what it has found.
    done match {
      case found: Array[FileStatus] => (1 until pages(found.length)).foreach(_ => countAndWait(kind))
      case _ => ()
    }
    done
  }

  private def countAndWait(kind: String): Unit = {
    counts.computeIfAbsent(kind, _ => new LongAdder).increment()
    Thread.sleep(delayMs.toLong)
  }

  override def listStatusIterator(path: Path): RemoteIterator[FileStatus] = {
    val directory = pathToFile(path).toPath
    countAndWait("list")
    if (!Files.isDirectory(directory)) throw new FileNotFoundException(path.toString)
    // Entries come one by one, so that a large directory takes no memory.
    val entries = Files.newDirectoryStream(directory)
    new RemoteIterator[FileStatus] {
      private val found = entries.iterator()
      private var passed = 0
      override def hasNext: Boolean = {
        val more = found.hasNext
        if (!more) entries.close()
        more
      }
      override def next(): FileStatus = {
        if (passed > 0 && passed % listPage == 0) countAndWait("list")
        passed += 1
        val entry = found.next()
        val about = Files.readAttributes(entry, classOf[BasicFileAttributes])
        val name = new Path(path, entry.getFileName.toString)
        new FileStatus(about.size, about.isDirectory, 1, 1, about.lastModifiedTime.toMillis, name)
      }
    }
  }

  private def pages(files: Int): Int = math.max(1, (files + listPage - 1) / listPage)

  override def createBulkDelete(base: Path): BulkDelete =
    if (bulkPage == 1) super.createBulkDelete(base)
    else new BulkDelete {
      override def pageSize: Int = bulkPage
      override def basePath: Path = base
      override def getIOStatistics: IOStatistics = null
      override def close(): Unit = ()
      override def bulkDelete(paths: util.Collection[Path]): util.List[util.Map.Entry[Path, String]] = {
        require(paths.size <= bulkPage)
        outermost("bulk delete", base)(paths.asScala.foreach(LatencyFileSystem.super.delete(_, false)))
        util.List.of()
      }
    }
}

object LatencyFileSystem {

  private val counts = new ConcurrentHashMap[String, LongAdder]

  def reset(): Unit = counts.clear()

  /** Requests of a kind since the last [[reset]]. */
  def calls(kind: String): Long = Option(counts.get(kind)).fold(0L)(_.sum)

  /** All kinds, `delete=20000, list=21`, say. */
  def summary: String =
    counts.asScala.toSeq.sortBy(_._1).map { case (kind, count) => s"$kind=${count.sum}" }.mkString(", ")

  /** A file system of its own, with settings behind `fs.latency.`. */
  def open(settings: (String, Int)*): LatencyFileSystem = {
    val conf = new Configuration(false)
    settings.foreach { case (name, value) => conf.setInt(s"fs.latency.$name", value) }
    val fileSystem = new LatencyFileSystem
    fileSystem.initialize(URI.create("latency:///"), conf)
    fileSystem
  }
}
