package io.deltaupkeep.store

import java.io.{FileNotFoundException, FilterOutputStream, IOException, OutputStream}
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import org.apache.hadoop.fs._

/**
 * The local file system, `fault:///path`, one request of which fails as [[FaultFileSystem.arm]] says. Requests are
 * counted from zero; that a file that was created is closed is one too, of the kind `write`.
 */
class FaultFileSystem extends RequestFileSystem("fault") {
  import FaultFileSystem._

  override protected def request[T](kind: String, path: Path)(body: => T): T = {
    if (looks(kind) && refused.exists(path.toString.contains(_))) fail()
    if (kind == "status" && isVanished(path) && lookedFor())
      throw new FileNotFoundException(path.toString)
    struck(kind, path) match {
      case None => body
      case Some(Fault.Crash | Fault.Torn) => die()
      case Some(Fault.CrashAfter) =>
        body
        die()
      case Some(Fault.Error) => fail()
      case Some(Fault.ErrorAfter) =>
        body
        fail()
      case Some(Fault.Lie) => pretend(kind, body)
      case Some(Fault.Stale) =>
        hide(path)
        body
      case Some(Fault.Halt) =>
        Runtime.getRuntime.halt(Killed)
        body
    }
  }

  /** Says that it was done. Only of what changes files; the rest is done. */
  private def pretend[T](kind: String, body: => T): T = kind match {
    case "rename" | "delete" | "mkdirs" => true.asInstanceOf[T]
    case _ => body
  }

  override protected def created(path: Path, file: FSDataOutputStream): FSDataOutputStream =
    new FSDataOutputStream(new Closing(path, file), null)

  private final class Closing(path: Path, file: OutputStream) extends FilterOutputStream(file) {
    private var isOpen = true

    override def write(bytes: Array[Byte], from: Int, count: Int): Unit = file.write(bytes, from, count)

    override def close(): Unit = if (isOpen) {
      isOpen = false
      file.close()
      struck("write", path) match {
        case None => ()
        case Some(Fault.Torn) =>
          tear(path)
          die()
        case Some(Fault.Crash) =>
          drop(path)
          die()
        case Some(Fault.CrashAfter) => die()
        case Some(Fault.Error) =>
          drop(path)
          fail()
        case Some(Fault.ErrorAfter) => fail()
        case Some(Fault.Lie) => drop(path)
        case Some(Fault.Stale) => hide(path)
        case Some(Fault.Halt) => Runtime.getRuntime.halt(Killed)
      }
    }
  }

  private def drop(path: Path): Unit = { pathToFile(path).delete(); () }

  private def tear(path: Path): Unit = {
    val file = new java.io.RandomAccessFile(pathToFile(path), "rw")
    try file.setLength(file.length / 2)
    finally file.close()
  }

  override def listStatus(path: Path): Array[FileStatus] =
    super.listStatus(path).filterNot(found => isStillHidden(found.getPath) || isVanished(found.getPath))
}

/** How a request fails. */
sealed abstract class Fault(val name: String)

object Fault {

  /** It does nothing, nor does any later one: the process has died. */
  case object Crash extends Fault("crash")

  /** It is done, and no later one is. */
  case object CrashAfter extends Fault("crash after")

  /** A file keeps half its bytes, and no later request is done. */
  case object Torn extends Fault("torn write")

  /** It does nothing and says so. */
  case object Error extends Fault("error")

  /** It is done, and says that it is not. */
  case object ErrorAfter extends Fault("success told as failure")

  /** It does nothing, and says that it has. */
  case object Lie extends Fault("failure told as success")

  /** The file that it makes is missing in the next listings. */
  case object Stale extends Fault("listed late")

  /** The process is killed. */
  case object Halt extends Fault("kill")

  val all: Seq[Fault] = Seq(Crash, CrashAfter, Torn, Error, ErrorAfter, Lie, Stale, Halt)
}

object FaultFileSystem {

  private val Killed = 137
  private val count = new AtomicLong
  @volatile private var armed = Option.empty[(Fault, Long)]
  @volatile private var isDead = false
  @volatile private var at = ""

  @volatile private var refused = Option.empty[String]
  private val looks = Set("status", "list", "open")

  /** Has every look at a path, and every read of it, fail that has a text in it, until it is called with null. */
  def refuse(text: String): Unit = refused = Option(text)

  @volatile private var vanished = ("", 0)

  /** Has paths with a text in them be gone, until one has been asked for so many times. */
  def vanish(text: String, times: Int): Unit = vanished = (text, times)

  private def isVanished(path: Path): Boolean = {
    val (text, times) = vanished
    times > 0 && path.toString.contains(text)
  }

  private def lookedFor(): Boolean = synchronized {
    val (text, times) = vanished
    vanished = (text, times - 1)
    times > 0
  }

  /** Listings that a file is yet to be missing in. */
  private val hidden = mutable.Map.empty[String, Int]

  /** Not for ever: Delta's own commit then tries the same version millions of times. */
  private val LateListings = 10

  /** Has the request of a number fail, or none of a negative number. */
  def arm(fault: String, number: Long): Unit = {
    disarm()
    count.set(0)
    at = ""
    armed = Some((Fault.all.find(_.name == fault).get, number))
  }

  /** Has every request done again. */
  def disarm(): Unit = synchronized {
    armed = None
    isDead = false
    hidden.clear()
  }

  /** Since [[arm]]. */
  def requests: Long = count.get

  /** The request that failed, or nothing if there was none of its number. */
  def failed: String = at

  private def struck(kind: String, path: Path): Option[Fault] = {
    if (isDead) throw new IOException("The process has died")
    armed.filter { case (_, number) => count.getAndIncrement() == number }.map { case (fault, _) =>
      at = s"$kind ${path.getName}"
      fault
    }
  }

  private def die(): Nothing = {
    isDead = true
    throw new IOException("The process dies here")
  }

  private def fail(): Nothing = throw new IOException("The store fails here")

  private def hide(path: Path): Unit = synchronized {
    hidden.put(path.toUri.getPath, LateListings)
    ()
  }

  private def isStillHidden(path: Path): Boolean = synchronized {
    hidden.updateWith(path.toUri.getPath)(_.map(_ - 1).filter(_ >= 0)).nonEmpty
  }
}
