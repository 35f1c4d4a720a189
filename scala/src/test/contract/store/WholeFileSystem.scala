package io.deltaupkeep.store

import java.io.{ByteArrayOutputStream, FileOutputStream, InterruptedIOException, OutputStream}
import java.nio.file.{Files, Path => LocalPath, StandardCopyOption}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.util.Using

import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.security.UserGroupInformation
import org.apache.hadoop.util.Progressable

/**
 * The local file system as an object store, `whole:///path`: a file is there once it is closed, with all its bytes.
 * What a thread has written that is interrupted is there too, as Google's store may have it.
 */
class WholeFileSystem extends RequestFileSystem("whole") {
  import WholeFileSystem._

  override protected def request[T](kind: String, path: Path)(body: => T): T = body

  override def create(
      path: Path,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = upload(path, overwrite)

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = upload(path, overwrite)

  private def upload(path: Path, overwrite: Boolean): FSDataOutputStream = {
    refuseIfThere(path, overwrite)
    new FSDataOutputStream(new Upload(path, overwrite), null)
  }

  private def refuseIfThere(path: Path, overwrite: Boolean): Unit =
    if (!overwrite && pathToFile(path).exists()) throw new FileAlreadyExistsException(path.toString)

  private final class Upload(path: Path, overwrite: Boolean) extends OutputStream {
    private val bytes = new ByteArrayOutputStream
    private var isOpen = true

    override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

    override def write(from: Array[Byte], start: Int, count: Int): Unit = unlessInterrupted {
      if (bytes.size > 0) held.filter(_.name.pattern.matcher(path.getName).matches).foreach(_.stop())
      bytes.write(from, start, count)
    }

    override def close(): Unit = if (isOpen) unlessInterrupted {
      isOpen = false
      publish()
    }

    private def unlessInterrupted(step: => Unit): Unit =
      try {
        if (Thread.interrupted()) throw new InterruptedException
        step
      } catch {
        case _: InterruptedException =>
          isOpen = false
          try publish()
          finally held.foreach(_.ended())
          throw new InterruptedIOException(s"The upload of $path was interrupted")
      }

    private def publish(): Unit = synchronized {
      val file = pathToFile(path).toPath
      Files.createDirectories(file.getParent)
      refuseIfThere(path, overwrite)
      val uploaded = Files.createTempFile("upload", "")
      // Which, other than a channel, does not hear of a second interrupt.
      Using.resource(new FileOutputStream(uploaded.toFile))(bytes.writeTo)
      Files.move(uploaded, file, StandardCopyOption.REPLACE_EXISTING)
      users.put(file, UserGroupInformation.getCurrentUser.getShortUserName)
      ()
    }
  }
}

object WholeFileSystem {

  private val users = new ConcurrentHashMap[LocalPath, String]

  /** Who wrote a file. */
  def userOf(file: LocalPath): String = users.get(file)

  @volatile private var held = Option.empty[Held]

  /** Has the upload of a file of some name wait once it has begun, while something else is done. */
  def holding[T](name: String)(body: Held => T): T = {
    val hold = new Held(name.r)
    held = Some(hold)
    try body(hold)
    finally {
      held = None
      hold.goOn()
    }
  }

  final class Held private[WholeFileSystem] (private[deltaupkeep] val name: scala.util.matching.Regex) {
    private val begun = new CountDownLatch(1)
    private val released = new CountDownLatch(1)
    private val interrupted = new CountDownLatch(1)

    /** Waits until there is an upload that waits. */
    def await(): Unit = require(begun.await(WaitSeconds, TimeUnit.SECONDS), s"nobody has written $name")

    def goOn(): Unit = released.countDown()

    /** Waits until an interrupt has ended the upload. */
    def awaitEnd(): Unit =
      require(interrupted.await(WaitSeconds, TimeUnit.SECONDS), s"nobody was interrupted in $name")

    private[deltaupkeep] def ended(): Unit = interrupted.countDown()

    private[deltaupkeep] def stop(): Unit = {
      begun.countDown()
      require(released.await(WaitSeconds, TimeUnit.SECONDS), s"$name was held for too long")
    }
  }

  private val WaitSeconds = 60L
}
