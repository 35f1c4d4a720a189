package org.apache.spark.sql.delta.upkeep.hook

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.{OptimisticTransaction, TransactionExecutionObserver}
import org.apache.spark.sql.delta.hooks.{AutoCompact, CheckpointHook, PostCommitHook}
import org.apache.spark.sql.delta.upkeep.api.{CheckpointsHidden, CommitHook, DeltaApi}

/** Forwards the events of a transaction. */
private[upkeep] abstract class ForwardingObserver(next: TransactionExecutionObserver)
    extends TransactionExecutionObserver {

  override def createChild(): TransactionExecutionObserver = next.createChild()
  override def preparingCommit[T](f: => T): T = next.preparingCommit(f)
  override def beginDoCommit(): Unit = next.beginDoCommit()
  override def beginBackfill(): Unit = next.beginBackfill()
  override def beginPostCommit(): Unit = next.beginPostCommit()
  override def transactionCommitted(): Unit = next.transactionCommitted()
  override def transactionAborted(): Unit = next.transactionAborted()
}

/**
 * Adds our hooks to each transaction that its thread begins, as long as the application runs.
 *
 * @param next        the observer that the thread had before, which still gets all events
 * @param application the Spark application that this is for: a thread may outlive it
 */
private[upkeep] final class UpkeepObserver(val next: TransactionExecutionObserver, val application: String)
    extends ForwardingObserver(next) {

  override def startingTransaction(begin: => OptimisticTransaction): OptimisticTransaction =
    if (isOfActiveSession) watched(begin) else next.startingTransaction(begin)

  private def watched(begin: => OptimisticTransaction): OptimisticTransaction = {
    // A transaction keeps the observer that its thread has while it is made.
    val watch = new TransactionWatch(this)
    val transaction = TransactionExecutionObserver.withObserver(watch) {
      UpkeepTransaction.of(next.startingTransaction(begin))
    }
    watch.transaction = Some(transaction)
    transaction
  }

  // The next application may run without our extension, and then nothing would remove this observer.
  private def isOfActiveSession: Boolean =
    SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)
      .exists(_.sparkContext.applicationId == application)
}

/** The observer of one transaction. */
private final class TransactionWatch(ofThread: UpkeepObserver) extends ForwardingObserver(ofThread.next) {

  @volatile var transaction: Option[OptimisticTransaction] = None

  // While a transaction commits, its observer is its thread's.
  override def startingTransaction(begin: => OptimisticTransaction): OptimisticTransaction =
    ofThread.startingTransaction(begin)

  override def preparingCommit[T](f: => T): T = {
    transaction.foreach(UpkeepObserver.useOurHooks)
    super.preparingCommit(f)
  }
}

private[upkeep] object UpkeepObserver {

  def install(application: String): Unit = TransactionExecutionObserver.getObserver match {
    case ours: UpkeepObserver if ours.application == application => ()
    case ours: UpkeepObserver => set(ours.next, application)
    case other => set(other, application)
  }

  private def set(next: TransactionExecutionObserver, application: String): Unit =
    TransactionExecutionObserver.setObserver(new UpkeepObserver(next, application))

  /** Runs inside the user's commit: whatever can fail, such as reading a setting, is left to the hooks. */
  def useOurHooks(transaction: OptimisticTransaction): Unit = {
    replace(transaction, AutoCompact, UpkeepAutoCompact)
    if (transaction.isInstanceOf[CheckpointsHidden]) replace(transaction, CheckpointHook, UpkeepCheckpoint)
  }

  private def replace(
      transaction: OptimisticTransaction,
      theirs: PostCommitHook,
      ours: CommitHook
  ): Unit =
    if (transaction.containsPostCommitHook(theirs)) {
      transaction.unregisterPostCommitHooksWhere(_ == theirs)
      transaction.registerPostCommitHook(DeltaApi.current.hook(ours))
    }
}

/** Installs the observer on each thread that analyses a plan: the same that runs its transactions. */
final case class WatchTransactions(session: SparkSession) extends Rule[LogicalPlan] {

  private lazy val application = session.sparkContext.applicationId

  override def apply(plan: LogicalPlan): LogicalPlan = {
    UpkeepObserver.install(application)
    plan
  }
}
