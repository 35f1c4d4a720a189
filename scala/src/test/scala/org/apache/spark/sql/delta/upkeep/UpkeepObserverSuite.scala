package org.apache.spark.sql.delta.upkeep

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepConf

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{
  DeltaLog,
  DeltaOperations,
  NoOpTransactionExecutionObserver,
  OptimisticTransaction,
  TransactionExecutionObserver
}
import org.apache.spark.sql.delta.hooks.AutoCompact
import org.apache.spark.sql.delta.upkeep.api.DeltaApi
import org.apache.spark.sql.delta.upkeep.hook.{ForwardingObserver, UpkeepAutoCompact, UpkeepObserver}

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

  private def commit(table: String, observer: TransactionExecutionObserver): OptimisticTransaction = {
    val log = DeltaLog.forTable(spark, newTable(table, 1))
    TransactionExecutionObserver.withObserver(observer) {
      val transaction = log.startTransaction(catalogTableOpt = None)
      transaction.registerPostCommitHook(AutoCompact)
      transaction.commit(Nil, DeltaOperations.ManualUpdate)
      transaction
    }
  }

  test("a thread that outlives its application does Delta's auto-compactions, and is observed as before") {
    val application = spark.sparkContext.applicationId
    val ours = commit("observed-running", new UpkeepObserver(NoOpTransactionExecutionObserver, application))
    val ourHook = DeltaApi.current.hook(UpkeepAutoCompact)
    assert(ours.containsPostCommitHook(ourHook) && !ours.containsPostCommitHook(AutoCompact))
    val foreign = new Foreign
    val later = commit("observed-ended", new UpkeepObserver(foreign, "ended"))
    assert(later.containsPostCommitHook(AutoCompact) && !later.containsPostCommitHook(ourHook))
    assert(foreign.calls.asScala.toSeq == Seq("start", "prepare", "committed"))
  }

  test("a setting that is invalid from the start of the session does not fail a commit") {
    val path = newTable("invalid", 1)
    val autoCompact = "spark.databricks.delta.autoCompact.enabled"
    val settings = spark.sessionState.conf.settings
    // As --conf sets it, unchecked: before anything has read the setting, Spark does not know it.
    settings.put(UpkeepConf.OptimizeEngine.key, "fast")
    settings.put(autoCompact, "true")
    try spark.sql(s"INSERT INTO delta.`$path` VALUES (10, 0)")
    finally Seq(UpkeepConf.OptimizeEngine.key, autoCompact).foreach(settings.remove)
    assert(spark.table(s"delta.`$path`").where("id = 10").count() == 1)
  }
}
