package org.apache.spark.sql.delta.upkeep.hook

import java.lang.ref.WeakReference

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.{OptimisticTransaction, TransactionExecutionObserver}
import org.apache.spark.sql.delta.hooks.{AutoCompact, CheckpointHook, PostCommitHook}
import org.apache.spark.sql.delta.upkeep.table.Switch
import org.apache.spark.sql.delta.upkeep.versions.{
  CheckpointsHidden,
  CommitHook,
  DeltaApi,
  TransactionEvents,
  TransactionObserved
}

/**
 * Adds our hooks to each transaction that its thread begins, as long as the application runs.
 *
 * @param next    the observer that the thread had before, which still gets all events
 * @param context of the Spark application that this is for: a thread may outlive it
 */
private[upkeep] final class UpkeepObserver(
    override val next: TransactionExecutionObserver,
    context: SparkContext
) extends TransactionEvents {

  private val application = new WeakReference(context)

  /** Ids of applications may be equal, as of those that `spark.app.id` names. */
  def isOf(other: SparkContext): Boolean = application.get eq other

  override def starting(begin: => OptimisticTransaction): OptimisticTransaction =
    if (isOfActiveSession) watched(begin) else super.starting(begin)

  private def watched(begin: => OptimisticTransaction): OptimisticTransaction = {
    // A transaction keeps the observer that its thread has when it is created.
    val watch = new TransactionWatch(this)
    val transaction = DeltaApi.current.observed(DeltaApi.current.observer(watch)) {
      UpkeepTransaction.of(next.startingTransaction(begin))
    }
    watch.transaction = Some(transaction)
    transaction
  }

  // The next application may run without our extension, and then nothing would remove this observer.
  private def isOfActiveSession: Boolean =
    SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)
      .exists(session => isOf(session.sparkContext) && Switch.isOn(session))
}

/** The events of one transaction. */
private final class TransactionWatch(ofThread: UpkeepObserver) extends TransactionEvents {

  @volatile var transaction: Option[OptimisticTransaction] = None

  override def next: TransactionExecutionObserver = ofThread.next

  // While a transaction commits, its observer is also its thread's.
  override def starting(begin: => OptimisticTransaction): OptimisticTransaction = ofThread.starting(begin)

  override def preparing(): Unit = transaction.foreach(UpkeepObserver.useOurHooks)
}

private[upkeep] object UpkeepObserver {

  def install(context: SparkContext): Unit = {
    val current = DeltaApi.current.threadObserver
    of(current) match {
      case Some(ours) if ours.isOf(context) => ()
      case Some(ours) => set(ours.next, context)
      case None => set(current, context)
    }
  }

  /** Gives the thread the observer back that it had before. */
  def uninstall(): Unit =
    of(DeltaApi.current.threadObserver).foreach(ours => DeltaApi.current.observeThread(ours.next))

  /** Our observer, if Delta's wraps one. */
  def of(observer: TransactionExecutionObserver): Option[UpkeepObserver] =
    Some(observer).collect { case observed: TransactionObserved => observed.events }
      .collect { case ours: UpkeepObserver => ours }

  private def set(next: TransactionExecutionObserver, context: SparkContext): Unit =
    DeltaApi.current.observeThread(DeltaApi.current.observer(new UpkeepObserver(next, context)))

  /** Runs inside the user's commit: whatever can fail, such as reading a setting, is left to the hooks. */
  def useOurHooks(transaction: OptimisticTransaction): Unit = {
    replace(transaction, AutoCompact, UpkeepAutoCompact)
    if (transaction.isInstanceOf[CheckpointsHidden]) replace(transaction, CheckpointHook, UpkeepCheckpoint)
  }

  private def replace(
      transaction: OptimisticTransaction,
      old: PostCommitHook,
      replacement: CommitHook
  ): Unit =
    if (transaction.containsPostCommitHook(old)) {
      transaction.unregisterPostCommitHooksWhere(_ == old)
      transaction.registerPostCommitHook(DeltaApi.current.hook(replacement))
    }
}

/** Installs the observer on each thread that analyses a plan: the same thread runs its transactions. */
final case class WatchTransactions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (Switch.isOn(session)) UpkeepObserver.install(session.sparkContext) else UpkeepObserver.uninstall()
    plan
  }
}
