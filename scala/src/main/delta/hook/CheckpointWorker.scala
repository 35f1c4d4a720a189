package org.apache.spark.sql.delta.upkeep.hook

import java.time.Clock
import java.util

import scala.util.control.NonFatal

import io.deltaupkeep.{ByteText, CountText, UpkeepConf, UpkeepException}
import io.deltaupkeep.plan.checkpoint.{CheckpointResult, HookOutcome, RetryBackoff}

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.upkeep.metrics.UpkeepMetrics
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Writes the checkpoints that commits of an application make due, one after the other, in its own thread.
 * At most one checkpoint per table is queued: the newest. With more than a thousand tables queued, others wait for
 * their next commit.
 */
private[upkeep] final class CheckpointWorker(context: SparkContext, graceMs: Long, clock: Clock)
    extends Logging {
  import CheckpointWorker._

  private val waiting = new util.LinkedHashMap[TableKey, PendingCheckpoint]
  private val tables = new Recent[TableState](MaxTables)
  private var busyWith = Option.empty[TableKey]
  private var isEnding = false

  private val metrics = UpkeepMetrics.of(context).afterCommit

  private var thread = Option.empty[Thread]

  /** Ids of applications may be equal, as of those that `spark.app.id` names. */
  private def isOf(other: SparkContext): Boolean = context eq other

  private def register(): this.type = {
    metrics.showDepth(() => synchronized(waiting.size))
    context.addSparkListener(new SparkListener {
      override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = finish()
    })
    this
  }

  /** A thread ends when it has nothing to do, or after a fatal error. */
  private def requireThread(): Unit = if (thread.isEmpty && !isEnding) {
    val made = new Thread(() => work(), "delta-upkeep-checkpoint")
    made.setDaemon(true)
    made.start()
    thread = Some(made)
  }

  private def stateOf(table: TableKey): TableState = tables.get(table).getOrElse(TableState(None, None, None))

  /** The newest version of a table whose checkpoint was written or is queued by this worker. */
  def lastVersion(table: TableKey): Option[Long] = synchronized(stateOf(table).submitted)

  /** Whether the last checkpoint of a table failed and the next try is due. */
  def owes(table: TableKey): Boolean =
    synchronized(stateOf(table).backoff.exists(_.mayTry(clock.millis())))

  /** Whether the last checkpoint of a table failed and the next try is not due yet. */
  def isPaused(table: TableKey): Boolean =
    synchronized(stateOf(table).backoff.exists(!_.mayTry(clock.millis())))

  def lastOutcome(table: TableKey): Option[HookOutcome] = synchronized(stateOf(table).outcome)

  /** Queues a checkpoint. Does not block. */
  def submit(pending: PendingCheckpoint): Unit = synchronized {
    metrics.due.inc()
    val state = stateOf(pending.key)
    if (isEnding || isPaused(pending.key)) metrics.skipped.inc()
    else if (waiting.size >= MaxTables && !waiting.containsKey(pending.key)) {
      metrics.skipped.inc()
      logWarning(s"$MaxTables tables wait for checkpoints: that of ${pending.key} is left to its next commit")
    } else {
      requireThread()
      if (waiting.put(pending.key, pending) != null) metrics.skipped.inc()
      tables.put(pending.key, state.copy(submitted = Some(pending.version)))
      notifyAll()
    }
  }

  /** Writes a checkpoint immediately. Records a failure and throws it. */
  def run(pending: PendingCheckpoint): Unit =
    try {
      val result = pending.write()
      (if (result.isWritten) metrics.written else metrics.skipped).inc()
      val said = describe(pending, result)
      logInfo(said)
      note(pending, HookOutcome(pending.version, isFailure = false, said))
      cleanUp(pending)
    } catch {
      case replaced: UpkeepException if replaced.name == "TABLE_REPLACED" =>
        metrics.skipped.inc()
        logInfo(replaced.getMessage)
      // A fatal error must be recorded too, and must not be retried after each commit.
      case e: Throwable =>
        metrics.failed.inc()
        logWarning(s"The checkpoint of version ${pending.version} of ${pending.key} failed", e)
        val said = s"${e.getClass.getSimpleName}: ${e.getMessage}"
        note(pending, HookOutcome(pending.version, isFailure = true, said))
        throw e
    }

  private def describe(pending: PendingCheckpoint, result: CheckpointResult): String =
    s"Checkpoint of version ${pending.version} of ${pending.key} (${pending.reason}): ${result.status}, " +
      s"${result.mode}, ${ByteText.of(result.sizeInBytes.getOrElse(0L))}, ${result.durationMs} ms"

  private def note(pending: PendingCheckpoint, outcome: HookOutcome): Unit = synchronized {
    val state = stateOf(pending.key)
    val (submitted, backoff) =
      if (outcome.isFailure) {
        val now = clock.millis()
        (None, Some(state.backoff.fold(RetryBackoff.first(now))(_.again(now))))
      } else (Some(pending.version.max(state.submitted.getOrElse(0L))), None)
    tables.put(pending.key, TableState(submitted, backoff, Some(outcome)))
  }

  private def cleanUp(pending: PendingCheckpoint): Unit =
    try pending.cleanUp().flatMap(_.filesDeleted).filter(_ > 0).foreach { files =>
        logInfo(s"CLEANUP LOG deleted ${CountText.of(files, "expired file")} of ${pending.key}")
      }
    catch { case NonFatal(e) => logWarning(s"The log of ${pending.key} was not cleaned", e) }

  private def work(): Unit = {
    // A new thread inherits, for example, the job group of its parent, which may be cancelled.
    context.setLocalProperties(new util.Properties)
    Iterator.continually(next()).takeWhile(_.nonEmpty).flatten.takeWhile(isSoundAfter).foreach(_ => ())
  }

  /** Runs a checkpoint. After a fatal error another thread takes over. */
  private def isSoundAfter(pending: PendingCheckpoint): Boolean = {
    var isSound = false
    try {
      try pending.asUser(pending.session.withActive(run(pending)))
      catch { case NonFatal(_) => () } // It was recorded.
      isSound = true
    } catch { case _: Throwable => () } // It was recorded, too.
    finally {
      synchronized {
        busyWith = None
        if (!isSound) {
          thread = None
          if (!waiting.isEmpty) requireThread()
        }
        notifyAll()
      }
    }
    isSound
  }

  /** None when the application ends, or if there was nothing to do for a while. */
  private def next(): Option[PendingCheckpoint] = synchronized {
    waitWhile(MaxIdleMs)(waiting.isEmpty && !isEnding)
    if (waiting.isEmpty) thread = None
    val first = waiting.entrySet().iterator()
    Option.when(first.hasNext) {
      val pending = first.next().getValue
      first.remove()
      busyWith = Some(pending.key)
      pending
    }
  }

  /** Waits up to `atMostMs` until the queue is empty; false if that was not enough. */
  def drain(atMostMs: Long): Boolean = waitWhile(atMostMs)(busyWith.nonEmpty || !waiting.isEmpty)

  /**
   * Waits up to `atMostMs` until no checkpoint of a table is queued or being written; false if that was not
   * enough.
   */
  def await(table: TableKey, atMostMs: Long): Boolean =
    waitWhile(atMostMs)(busyWith.contains(table) || waiting.containsKey(table))

  private def waitWhile(atMostMs: Long)(isBusy: => Boolean): Boolean = synchronized {
    val end = System.nanoTime() + atMostMs * 1000000L
    def left: Long = (end - System.nanoTime()) / 1000000L
    while (isBusy && left > 0) wait(math.max(1L, left))
    !isBusy
  }

  /**
   * Nothing can be written after the application has ended. Queued checkpoints are left to the next commit of
   * another application.
   */
  def finish(): Unit = {
    synchronized {
      isEnding = true
      if (!waiting.isEmpty)
        logWarning(
          s"${context.applicationId} ended with ${CountText.of(waiting.size, "checkpoint")} in the queue"
        )
      waiting.clear()
      notifyAll()
    }
    if (!drain(graceMs)) synchronized(thread).foreach(_.interrupt())
  }
}

object CheckpointWorker {

  private val MaxTables = 1000
  private val MaxAwaitMs = 600000L
  private val MaxIdleMs = 10000L

  private var current = Option.empty[CheckpointWorker]

  /** The worker of the session's application, if there is one yet. */
  private[upkeep] def find(session: SparkSession): Option[CheckpointWorker] =
    synchronized(current.filter(_.isOf(session.sparkContext)))

  /** The outcome of the last checkpoint of a table after a commit of this application. */
  def lastOutcome(table: DeltaHandle): Option[HookOutcome] =
    find(table.session).flatMap(_.lastOutcome(TableKey.of(table.snapshot)))

  /**
   * Waits for the checkpoint that a commit of this application has made due, so that it is not written twice.
   * After ten minutes the caller proceeds: if both write it, the first one is kept.
   */
  def await(table: DeltaHandle): Unit =
    find(table.session).foreach(_.await(TableKey.of(table.snapshot), MaxAwaitMs))

  /** The worker of the session's application. */
  private[upkeep] def of(session: SparkSession): CheckpointWorker = synchronized {
    find(session).getOrElse {
      val grace = session.sessionState.conf.getConf(UpkeepConf.CheckpointGrace)
      install(new CheckpointWorker(session.sparkContext, grace, Clock.systemUTC()).register())
    }
  }

  /** Installs the worker of an application. */
  private[upkeep] def install(worker: CheckpointWorker): CheckpointWorker = synchronized {
    current = Some(worker)
    worker
  }

  /**
   * The state of a table.
   *
   * @param submitted version of its newest checkpoint, written or queued
   */
  private final case class TableState(
      submitted: Option[Long],
      backoff: Option[RetryBackoff],
      outcome: Option[HookOutcome]
  )

  /** A map of limited size, which forgets the value that was unused the longest. */
  private final class Recent[T](most: Int) {
    private val values = new util.LinkedHashMap[TableKey, T](16, 0.75f, true) {
      override def removeEldestEntry(eldest: util.Map.Entry[TableKey, T]): Boolean = size > most
    }
    def get(key: TableKey): Option[T] = Option(values.get(key))
    def put(key: TableKey, value: T): Unit = { values.put(key, value); () }
  }
}
