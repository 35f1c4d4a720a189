package io.deltaupkeep.parquet.file

import java.util.concurrent.{Callable, ExecutionException, Executors, Future}

import scala.collection.mutable
import scala.util.Try

import io.deltaupkeep.{DaemonThreads, UnreadableInput}
import io.deltaupkeep.parquet.footer.{FileOpener, InputRows, OpenFile, RowGroup}
import io.deltaupkeep.parquet.plan.SpliceSettings

/**
 * The inputs of a bin in order, fetched ahead: as many as fit into `bytesInFlight` together with those in use,
 * but at least one when it is asked for. An unread footer counts as the longest so far.
 */
private[parquet] final class FileQueue(inputs: Seq[InputRows], settings: SpliceSettings)
    extends AutoCloseable {

  private val pool = Executors.newFixedThreadPool(settings.fetches, DaemonThreads("delta-upkeep-fetch"))
  private val opener = new FileOpener(settings.heldFileBytes)
  private val waiting = inputs.iterator.buffered
  private val fetching = mutable.Queue.empty[FileQueue.Fetch]
  private val rowGroupsInUse = mutable.Map.empty[OpenFile, Int]
  private var inFlight = 0L
  private var longestFooter = Option.empty[Long]

  /** Whether nothing more is fetched until a file in use is released. */
  def isFull: Boolean = fetching.isEmpty && waiting.hasNext && !fits(waiting.head)

  /** The next input, or why it cannot be spliced. */
  def next(): Either[Refusal, OpenFile] = {
    fetchAhead(atLeastOne = true)
    val fetch = fetching.dequeue()
    val opened = Refusal.orElse {
      try fetch.file.get()
      catch { case e: ExecutionException => UnreadableInput.naming(fetch.name)(throw e.getCause) }
    }
    inFlight -= fetch.heldBytes
    opened.foreach { open =>
      inFlight += open.heldBytes
      longestFooter = Some(longestFooter.fold(open.footerHeldBytes)(math.max(_, open.footerHeldBytes)))
      rowGroupsInUse(open) = open.rowGroups.size
    }
    fetchAhead(atLeastOne = false)
    opened
  }

  /** Reports that a row group is written. The last one of a file frees its bytes. */
  def release(group: RowGroup): Unit = {
    rowGroupsInUse(group.file) -= 1
    if (rowGroupsInUse(group.file) == 0) release(group.file)
  }

  def release(file: OpenFile): Unit = {
    rowGroupsInUse.remove(file)
    inFlight -= file.heldBytes
    file.bytes.close()
  }

  private def fetchAhead(atLeastOne: Boolean): Unit =
    while (
      waiting.hasNext &&
      (atLeastOne && fetching.isEmpty || fits(waiting.head) && fetching.size < mostAhead)
    ) {
      val file = waiting.next()
      val held = heldBytes(file)
      inFlight += held
      val task: Callable[Either[String, OpenFile]] = () => opener.open(file)
      fetching.enqueue(FileQueue.Fetch(file.name, held, pool.submit(task)))
    }

  private def mostAhead: Int = if (longestFooter.isEmpty) settings.fetches else FileQueue.MostAhead

  private def fits(file: InputRows): Boolean = inFlight + heldBytes(file) <= settings.bytesInFlight

  private def heldBytes(input: InputRows): Long = {
    val length = input.file.getLength
    input.selectionBytes + longestFooter.getOrElse(0L) + (if (length <= settings.heldFileBytes) length else 0)
  }

  override def close(): Unit = {
    DaemonThreads.stop(pool)
    val fetched = fetching.iterator.map(_.file).filter(_.isDone).flatMap(done => Try(done.get()).toOption)
    val opened = rowGroupsInUse.keysIterator ++ fetched.flatMap(_.toOption)
    val failures = opened.flatMap(file => Try(file.bytes.close()).failed.toOption).toSeq
    failures.headOption.foreach { first =>
      failures.tail.foreach(first.addSuppressed)
      throw first
    }
  }
}

private object FileQueue {

  /** Known to be enough. */
  val MostAhead = 256

  /** @param heldBytes what it counts until it is open */
  final case class Fetch(name: String, heldBytes: Long, file: Future[Either[String, OpenFile]])
}
