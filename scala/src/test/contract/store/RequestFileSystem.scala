package io.deltaupkeep.store

import java.net.URI

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** The local file system as a store of its own, `scheme:///path`, whose requests all come to one place. */
abstract class RequestFileSystem(scheme: String) extends ForklessRawFileSystem {

  override def getScheme: String = scheme

  override def getUri: URI = URI.create(s"$scheme:///")

  /** Makes a request of a kind: `open`, `create`, `rename`, `delete`, `status`, `mkdirs` or `list`. */
  protected def request[T](kind: String, path: Path)(body: => T): T

  /** What the local file system calls of its own within a request is none. */
  private val isInRequest = ThreadLocal.withInitial[Boolean](() => false)

  protected final def outermost[T](kind: String, path: Path)(body: => T): T =
    if (isInRequest.get) body
    else request(kind, path) {
      isInRequest.set(true)
      try body
      finally isInRequest.set(false)
    }

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    outermost("open", path)(super.open(path, bufferSize))

  /** Gives the stream for a file that was created. */
  protected def created(path: Path, file: FSDataOutputStream): FSDataOutputStream = file

  private def creating(path: Path)(create: => FSDataOutputStream): FSDataOutputStream =
    if (isInRequest.get) create else created(path, outermost("create", path)(create))

  // The local file system has two ways that do not go through each other.
  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    creating(path)(super.create(path, overwrite, bufferSize, replication, blockSize, progress))

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    creating(path)(super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress))

  override def rename(from: Path, to: Path): Boolean = outermost("rename", to)(super.rename(from, to))

  override def delete(path: Path, recursive: Boolean): Boolean =
    outermost("delete", path)(super.delete(path, recursive))

  override def getFileStatus(path: Path): FileStatus =
    outermost("status", path)(plain(super.getFileStatus(path)))

  /** Without permissions, which the local file system reads by itself, and only of `file:` paths. */
  protected final def plain(of: FileStatus): FileStatus =
    new FileStatus(of.getLen, of.isDirectory, 1, of.getBlockSize, of.getModificationTime, of.getPath)

  override def mkdirs(path: Path): Boolean = outermost("mkdirs", path)(super.mkdirs(path))

  override def listStatus(path: Path): Array[FileStatus] =
    outermost("list", path)(super.listStatus(path).map(plain))
}
