package io.deltaupkeep.store

import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.permission.FsAction

/** The local file system, `asked:///path`, which answers the question for a permission as a test wants. */
class AskedFileSystem extends RequestFileSystem("asked") {

  override protected def request[T](kind: String, path: Path)(body: => T): T = body

  override def access(path: Path, mode: FsAction): Unit = throw AskedFileSystem.answer
}

object AskedFileSystem {
  @volatile var answer: Exception = new UnsupportedOperationException("no access")
}
