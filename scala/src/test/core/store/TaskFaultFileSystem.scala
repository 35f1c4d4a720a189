package io.deltaupkeep.store

import java.io.{FilterOutputStream, IOException, OutputStream}

import org.apache.hadoop.fs._

import org.apache.spark.TaskContext

/**
 * The local file system, `task:///path`. Below a directory that a fault is named after, the first task of a job
 * fails so at the end of its file; once, for then there is a file `struck` in the directory.
 */
class TaskFaultFileSystem extends RequestFileSystem("task") {
  import TaskFaultFileSystem._

  override protected def request[T](kind: String, path: Path)(body: => T): T = body

  override protected def created(path: Path, file: FSDataOutputStream): FSDataOutputStream = {
    val directory = Iterator.iterate(path)(_.getParent).takeWhile(_ != null).find(at => faults(at.getName))
    directory.filter(_ => isFirst).fold(file)(at => new FSDataOutputStream(new Failing(at, file), null))
  }

  private def isFirst: Boolean = Option(TaskContext.get()).exists(_.partitionId() == 0)

  private final class Failing(directory: Path, file: OutputStream) extends FilterOutputStream(file) {
    private var isOpen = true

    override def write(bytes: Array[Byte], from: Int, count: Int): Unit = file.write(bytes, from, count)

    override def close(): Unit = if (isOpen) {
      isOpen = false
      // A stage that is tried again counts the tries of its tasks anew.
      if (pathToFile(new Path(directory, "struck")).createNewFile()) strike()
      else file.close()
    }

    private def strike(): Unit =
      directory.getName match {
        case "killed" => Runtime.getRuntime.halt(Killed)
        case "killed-after" =>
          file.close()
          Runtime.getRuntime.halt(Killed)
        case "failed-after" =>
          file.close()
          throw new IOException("The store fails here")
        case "stalled" =>
          stall()
          file.close()
          pathToFile(new Path(directory, "woken")).createNewFile()
      }
  }
}

private object TaskFaultFileSystem {
  private val Killed = 137

  private val faults = Set("killed", "killed-after", "failed-after", "stalled")

  private val StallNanos = 20L * 1000 * 1000 * 1000

  /** Waits long enough for another try to be started and done, and does not hear that this one is not wanted. */
  private def stall(): Unit = {
    val until = System.nanoTime() + StallNanos
    while (System.nanoTime() < until)
      try Thread.sleep(100)
      catch { case _: InterruptedException => () }
  }
}
