package org.apache.spark.sql.delta.upkeep.state

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.collection.mutable

import io.deltaupkeep.{SideBySide, UnreadableInput}

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.unsafe.types.UTF8String

/**
 * Replays the commits since the last checkpoint on the driver, the newest first. The first action found for a file,
 * an application or a domain is kept (protocol, 'Action Reconciliation'). Threads parse pieces of commits in parallel,
 * and wait for each other only to see what newer commits named.
 *
 * Memory: a hash of each file that the commits name, about 40 MB for a million. Each thread also holds the actions of
 * one piece.
 */
private[upkeep] final class DriverReplay(handle: DeltaHandle, session: ClassicSession, snapshot: Snapshot) {
  import DriverReplay._

  private val commits = snapshot.logSegment.deltas
  // Of several actions for one file in one commit, Delta takes the last.
  private val splits = commits.reverseIterator.flatMap(CommitSplit.of(_).reverse).toIndexedSeq
  private val seen = new KeySet
  private val sequencer = Sequencer(splits.size)
  private val unexpired = snapshot.minFileRetentionTimestamp
  private val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
  private val conf = handle.hadoopConf
  private val parser =
    ThreadLocal.withInitial[CommitParser](() => new CommitParser(conf, session.sessionState.conf))

  /** The number of pieces. */
  def pieces: Int = splits.size

  /**
   * The actions of a piece that no newer action has replaced. Thread-safe. Call it once for each piece, in ascending
   * order: it waits for the pieces before.
   *
   * @throws io.deltaupkeep.UnreadableInput a commit is missing or damaged
   */
  def newest(piece: Int): Seq[KeyedAction] =
    sequencer(piece)(naming(piece)(keyed(splits(piece)))) { actions =>
      actions.reverseIterator.filter(action => seen.add(action.key)).toVector
    }

  /**
   * The results of a function for all actions, the newest first, in memory.
   *
   * @param make the function, for each thread
   */
  def all[T](make: () => KeyedAction => Option[T]): Seq[T] = {
    val use = ThreadLocal.withInitial[KeyedAction => Option[T]](() => make())
    SideBySide.map(splits.indices, "delta-upkeep-replay", Threads) { piece =>
      session.withActive(naming(piece)(newest(piece).flatMap(action => use.get()(action))))
    }.flatten
  }

  /** Whether a commit names the file, once all pieces have been replayed. */
  def names(key: UTF8String): Boolean = seen.contains(key)

  /** Whether it is a tombstone that a checkpoint no longer holds. */
  def isExpired(action: KeyedAction): Boolean = KeyedAction.Files.isExpired(action.row, unexpired)

  /** Names the commit of a piece, if it fails to be read. */
  def naming[T](piece: Int)(read: => T): T =
    UnreadableInput.naming(splits(piece).commit.getPath.toString)(read)

  private def keyed(split: CommitSplit): mutable.ArrayBuffer[KeyedAction] = {
    val actions = mutable.ArrayBuffer.empty[KeyedAction]
    parser.get.foreach(split)(row => KeyedAction.of(row, canonical).foreach(actions += _))
    actions
  }
}

private object DriverReplay {
  private val Threads = 8
}

/** Lets threads prepare steps in parallel and do them in order. */
private final class Sequencer private (ended: IndexedSeq[CompletableFuture[Unit]]) {

  /** Prepares a step, waits for the one before it, and does it. If a step fails, all later ones fail too. */
  def apply[A, B](turn: Int)(prepare: => A)(body: A => B): B =
    try {
      val prepared = prepare
      ended(turn).get()
      val result = body(prepared)
      ended(turn + 1).complete(())
      result
    } catch {
      case e: Throwable =>
        val cause = if (e.isInstanceOf[ExecutionException]) e.getCause else e
        ended(turn + 1).completeExceptionally(cause)
        throw cause
    }
}

private object Sequencer {
  def apply(count: Int): Sequencer = {
    val ended = IndexedSeq.fill(count + 1)(new CompletableFuture[Unit])
    ended.head.complete(())
    new Sequencer(ended)
  }
}
