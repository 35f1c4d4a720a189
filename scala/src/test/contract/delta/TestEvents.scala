package org.apache.spark.sql.delta.upkeep

import org.apache.spark.sql.delta.{NoOpTransactionExecutionObserver, TransactionExecutionObserver}
import org.apache.spark.sql.delta.upkeep.versions.{DeltaApi, TransactionEvents}

/** Events that a test looks at, or where it fails. */
private[upkeep] trait TestEvents extends TransactionEvents {

  override def next: TransactionExecutionObserver = NoOpTransactionExecutionObserver

  /** Runs something that begins transactions on this thread. */
  def observe[T](work: => T): T = DeltaApi.current.observed(DeltaApi.current.observer(this))(work)
}
