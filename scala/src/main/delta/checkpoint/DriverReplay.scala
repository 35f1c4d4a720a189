package org.apache.spark.sql.delta.upkeep.checkpoint

import java.util
import java.util.concurrent.{CompletableFuture, CompletionException}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.read.{CheckpointSchema, NonFileActions}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.state.{CommitParser, CommitSplit, FileColumns, KeyedAction}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Replays the state of a table on the driver from its commits alone, the newest first. The first action found
 * for a file, an application or a domain is kept (protocol, 'Action Reconciliation'). Threads parse splits of
 * commits in parallel, and wait for each other only to see what newer commits named.
 *
 * Memory: a key of about 150 bytes for each file that the commits name, 150 MB for a million. Each
 * thread also holds the actions of one split and of one output file.
 */
private[upkeep] final class DriverReplay(
    handle: DeltaHandle,
    session: ClassicSession,
    checkpointSchema: CheckpointSchema,
    snapshot: Snapshot
) {
  import DriverReplay._

  private val sqlConf = session.sessionState.conf
  private val splits = snapshot.logSegment.deltas.reverseIterator.flatMap(CommitSplit.of(_)).toIndexedSeq
  private val expected = snapshot.logSegment.deltas.map(_.getLen).sum / BytesOfAction
  private val seen = new util.HashSet[UTF8String](expected.toInt)
  private val others = mutable.ArrayBuffer.empty[InternalRow]
  private val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
  private val unexpired = snapshot.minFileRetentionTimestamp

  /** Writes the file actions and, in row groups of a classic checkpoint, the non-file actions. */
  def write(parts: PartWriter, kind: PartKind, actionsOfPart: Long): WrittenParts = {
    val sequencer = Sequencer(splits.size)
    lazy val kept = NonFileActions.of(others.toSeq.filter(isKept), CommitParser.Schema)
    val files = parts
      .onDriver(kind, actionsOfPart)
      .fill(splits.size)(writer => new Worker(writer, sequencer).replay)(kept)
    parts.written(kind, files, kept)
  }

  private final class Worker(writer: DriverParts#Writer, sequencer: Sequencer) {
    private val parser = new CommitParser(handle.hadoopConf, sqlConf)
    private val columns = new FileColumns(CommitParser.Schema, checkpointSchema.sidecarSchema, sqlConf)

    def replay(split: Int): Unit = {
      val newest = sequencer(split)(keyed(splits(split)))(_.filter(action => seen.add(action.key)))
      newest.foreach { action =>
        action.file match {
          case Some(path) if !KeyedAction.Files.isExpired(action.row, unexpired) =>
            writer.write(columns(action.row, path))
          case Some(_) =>
          case None => DriverReplay.this.synchronized(others += action.row)
        }
      }
    }

    private def keyed(split: CommitSplit): mutable.ArrayBuffer[KeyedAction] = {
      val actions = mutable.ArrayBuffer.empty[KeyedAction]
      parser.foreach(split)(row => KeyedAction.of(row, canonical).foreach(actions += _))
      actions
    }
  }

  private def isKept(other: InternalRow): Boolean = {
    val oldest = snapshot.minSetTransactionRetentionTimestamp
    if (!other.isNullAt(Txn)) {
      val txn = other.getStruct(Txn, TxnSize)
      oldest.forall(time => !txn.isNullAt(LastUpdated) && txn.getLong(LastUpdated) > time)
    } else other.isNullAt(Domain) || !other.getStruct(Domain, DomainSize).getBoolean(DomainRemoved)
  }
}

private object DriverReplay {

  /** Few actions are smaller, statistics included. */
  private val BytesOfAction = 300L

  private val Txn = CommitParser.Schema.fieldIndex("txn")
  private val Domain = CommitParser.Schema.fieldIndex("domainMetadata")
  private val TxnSize = fieldsOf("txn").size
  private val DomainSize = fieldsOf("domainMetadata").size
  private val LastUpdated = fieldsOf("txn").fieldIndex("lastUpdated")
  private val DomainRemoved = fieldsOf("domainMetadata").fieldIndex("removed")

  private def fieldsOf(column: String): StructType =
    CommitParser.Schema(column).dataType.asInstanceOf[StructType]
}

/** Lets threads prepare steps in parallel and do them in order. */
private final class Sequencer private (ended: IndexedSeq[CompletableFuture[Unit]]) {

  /** Prepares a step, waits for the one before it, and does it. If a step fails, all later ones fail too. */
  def apply[A, B](turn: Int)(prepare: => A)(body: A => B): B =
    try {
      val prepared = prepare
      ended(turn).join()
      val result = body(prepared)
      ended(turn + 1).complete(())
      result
    } catch {
      case e: Throwable =>
        val cause = if (e.isInstanceOf[CompletionException]) e.getCause else e
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
