package org.apache.spark.sql.delta.upkeep

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{
  NoOpTransactionExecutionObserver,
  OptimisticTransaction,
  TransactionExecutionObserver
}

class UpkeepObserverSuite extends AnyFunSuite {
  import TestSession._

  private class Foreign extends ForwardingObserver(NoOpTransactionExecutionObserver) {
    val calls = new ConcurrentLinkedQueue[String]
    override def startingTransaction(begin: => OptimisticTransaction): OptimisticTransaction = {
      calls.add("start")
      begin
    }
    override def preparingCommit[T](f: => T): T = { calls.add("prepare"); f }
    override def transactionCommitted(): Unit = { calls.add("committed"); () }
  }

  test("an observer that was there goes on seeing each transaction, once") {
    val path = newTable("observed", 1)
    val foreign = new Foreign
    TransactionExecutionObserver.withObserver(foreign) {
      spark.sql(s"INSERT INTO delta.`$path` VALUES (10, 0)")
      assert(TransactionExecutionObserver.getObserver.isInstanceOf[UpkeepObserver])
      spark.sql(s"INSERT INTO delta.`$path` VALUES (11, 0)")
    }
    assert(foreign.calls.asScala.toSeq == Seq(
      "start",
      "prepare",
      "committed",
      "start",
      "prepare",
      "committed"
    ))
  }

  test("one observer of ours is on a thread, and that of another application is replaced") {
    TransactionExecutionObserver.withObserver(NoOpTransactionExecutionObserver) {
      def chain: Seq[TransactionExecutionObserver] =
        Iterator.unfold(Option(TransactionExecutionObserver.getObserver)) {
          case Some(ours: UpkeepObserver) => Some((ours, Some(ours.next)))
          case other => other.map(_ -> None)
        }.toSeq
      UpkeepObserver.install("one")
      UpkeepObserver.install("one")
      assert(chain.size == 2)
      UpkeepObserver.install("two")
      assert(chain.collect { case ours: UpkeepObserver => ours.application } == Seq("two"))
    }
  }
}
