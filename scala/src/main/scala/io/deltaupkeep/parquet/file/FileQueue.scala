package io.deltaupkeep.parquet.file

import java.util.concurrent.{Callable, ExecutionException, Executors, Future}

import scala.collection.mutable
import scala.util.Try

import io.deltaupkeep.DaemonThreads
import io.deltaupkeep.parquet.bytes.UnreadableInput
import io.deltaupkeep.parquet.footer.{FileOpener, InputRows, OpenFile, RowGroup}

/**
 * The inputs of a bin in their order, some fetched ahead: as many as fit into `bytesInFlight` together with
 * those in use, but at least one.
 */
private[parquet] final class FileQueue(inputs: Seq[InputRows], settings: SpliceSettings)
    extends AutoCloseable {

  private val pool = Executors.newFixedThreadPool(settings.fetches, DaemonThreads("delta-upkeep-fetch"))
  private val opener = new FileOpener(settings.heldFileBytes)
  private val waiting = inputs.iterator.buffered
  private val fetching = mutable.Queue.empty[(InputRows, Future[Either[String, OpenFile]])]
  private val rowGroupsInUse = mutable.Map.empty[OpenFile, Int]
  private var inFlight = 0L

  /** Whether nothing more is fetched until a file in use is released. */
  def isFull: Boolean = fetching.isEmpty && waiting.hasNext && !fits(waiting.head)

  /** The next input, or why it cannot be spliced. */
  def next(): Either[Refusal, OpenFile] = {
    fetchAhead()
    val (file, pending) = fetching.dequeue()
    val opened = Refusal.orElse {
      try pending.get()
      catch { case e: ExecutionException => UnreadableInput.naming(file.name)(throw e.getCause) }
    }
    opened match {
      case Right(open) => rowGroupsInUse(open) = open.rowGroups.size
      case Left(_) => inFlight -= heldBytes(file)
    }
    fetchAhead()
    opened
  }

  /** Reports that a row group is written. After the last one of a file its bytes are freed. */
  def release(group: RowGroup): Unit = {
    rowGroupsInUse(group.file) -= 1
    if (rowGroupsInUse(group.file) == 0) release(group.file)
  }

  def release(file: OpenFile): Unit = {
    rowGroupsInUse.remove(file)
    inFlight -= file.heldBytes
    file.bytes.close()
  }

  private def fetchAhead(): Unit =
    while (
      waiting.hasNext && (fetching.isEmpty || fits(waiting.head) && fetching.size < FileQueue.MostAhead)
    ) {
      val file = waiting.next()
      inFlight += heldBytes(file)
      val task: Callable[Either[String, OpenFile]] = () => opener.open(file)
      fetching.enqueue((file, pool.submit(task)))
    }

  private def fits(file: InputRows): Boolean = inFlight + heldBytes(file) <= settings.bytesInFlight

  private def heldBytes(input: InputRows): Long = {
    val length = input.file.getLength
    input.selectionBytes + (if (length <= settings.heldFileBytes) length else 0)
  }

  override def close(): Unit = {
    DaemonThreads.stop(pool)
    val fetched = fetching.iterator.map(_._2).filter(_.isDone).flatMap(done => Try(done.get()).toOption)
    val opened = rowGroupsInUse.keysIterator ++ fetched.flatMap(_.toOption)
    val failures = opened.flatMap(file => Try(file.bytes.close()).failed.toOption).toSeq
    failures.headOption.foreach { first =>
      failures.tail.foreach(first.addSuppressed)
      throw first
    }
  }
}

private object FileQueue {

  /** Footers take memory too, which is not counted. */
  val MostAhead = 256
}
