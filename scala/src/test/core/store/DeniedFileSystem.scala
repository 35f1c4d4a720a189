package io.deltaupkeep.store

import org.apache.hadoop.fs.{FSDataInputStream, Path}
import org.apache.hadoop.security.AccessControlException

/** The local file system, `denied:///path`, which may refuse to open some files, as a store may for a while. */
class DeniedFileSystem extends RequestFileSystem("denied") {

  override protected def request[T](kind: String, path: Path)(body: => T): T = body

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    if (DeniedFileSystem.isDenied(path.getName)) throw new AccessControlException(s"403: $path")
    else super.open(path, bufferSize)
}

object DeniedFileSystem {

  @volatile private var isDenied: String => Boolean = _ => false

  def denying[T](names: String => Boolean)(body: => T): T = {
    isDenied = names
    try body
    finally isDenied = _ => false
  }
}
