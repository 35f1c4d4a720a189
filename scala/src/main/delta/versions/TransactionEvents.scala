package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.delta.{OptimisticTransaction, TransactionExecutionObserver}

/** What happens to the transactions of a thread. */
private[upkeep] trait TransactionEvents {

  /** Gets all events too. */
  def next: TransactionExecutionObserver

  /** Begins a transaction. */
  def starting(begin: => OptimisticTransaction): OptimisticTransaction = next.startingTransaction(begin)

  /** Before a transaction commits. */
  def preparing(): Unit = ()

  /** After the commit and its hooks. */
  def committed(): Unit = ()
}

/** An observer of Delta that reports events. */
private[upkeep] trait TransactionObserved extends TransactionExecutionObserver {

  protected[upkeep] def events: TransactionEvents

  override def startingTransaction(begin: => OptimisticTransaction): OptimisticTransaction =
    events.starting(begin)

  override def preparingCommit[T](prepare: => T): T = {
    events.preparing()
    events.next.preparingCommit(prepare)
  }

  override def beginDoCommit(): Unit = events.next.beginDoCommit()

  override def transactionCommitted(): Unit = {
    events.committed()
    events.next.transactionCommitted()
  }

  override def transactionAborted(): Unit = events.next.transactionAborted()
}
