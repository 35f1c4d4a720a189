package io.deltaupkeep.store

import org.apache.hadoop.fs.{FileSystem, Path}

/** Deletes as many files per request as the file system can. The Hadoop of Spark 3.5 deletes one. */
private[deltaupkeep] final class DeletionRequests(fileSystem: FileSystem, below: Path) extends AutoCloseable {

  /** Most files of a request. */
  def pageSize: Int = 1

  /** Deletes files in one request. Returns those that are left, each with the reason. */
  def delete(page: Seq[Path]): Seq[(Path, String)] = page.flatMap { path =>
    val isLeft = !fileSystem.delete(path, false) && fileSystem.exists(path)
    Option.when(isLeft)(path -> s"it is still there, below $below")
  }

  override def close(): Unit = ()
}
