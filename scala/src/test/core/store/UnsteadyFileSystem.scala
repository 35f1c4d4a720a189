package io.deltaupkeep.store

import org.apache.hadoop.fs.{FSDataInputStream, Path}

/**
 * The local file system, `unsteady:///path`, on which a file may read otherwise the first time: by the bytes of
 * the file beside it with [[UnsteadyFileSystem.First]] at its name's end, which is then gone.
 */
class UnsteadyFileSystem extends RequestFileSystem("unsteady") {

  override protected def request[T](kind: String, path: Path)(body: => T): T = body

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    val first = path.suffix(UnsteadyFileSystem.First)
    val isFirst = pathToFile(first).exists()
    val stream = super.open(if (isFirst) first else path, bufferSize)
    // What is open can be read to its end.
    if (isFirst) pathToFile(first).delete()
    stream
  }
}

object UnsteadyFileSystem {
  val First: String = ".first"
}
