package io.deltaupkeep.store

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileSystem, Path}

/** How many files a file system deletes at once. Since 3.4.1 Hadoop asks it (`BulkDelete`). */
private[deltaupkeep] final class DeletionRequests(fileSystem: FileSystem, below: Path) extends AutoCloseable {

  private val bulk = fileSystem.createBulkDelete(below)

  /** Most files of a request. */
  def pageSize: Int = bulk.pageSize

  /** Deletes files in one request. Returns those that are left, each with the reason. */
  def delete(page: Seq[Path]): Seq[(Path, String)] =
    bulk.bulkDelete(page.asJava).asScala.toSeq.map(entry => entry.getKey -> entry.getValue)

  override def close(): Unit = bulk.close()
}
