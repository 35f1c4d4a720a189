package io.deltaupkeep.store

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileSystem, Path}

/** Deletes as many files per request as the file system can. Hadoop asks it since 3.4.1 (`BulkDelete`). */
private[deltaupkeep] final class DeletionRequests(fileSystem: FileSystem, below: Path) extends AutoCloseable {

  private val bulk = fileSystem.createBulkDelete(below)

  /** Most files of a request. */
  def pageSize: Int = bulk.pageSize

  /** Deletes files in one request. Returns those that are left, each with the reason. */
  def delete(page: Seq[Path]): Seq[(Path, String)] =
    bulk.bulkDelete(page.asJava).asScala.toSeq.map(entry => entry.getKey -> entry.getValue)

  override def close(): Unit = bulk.close()
}
