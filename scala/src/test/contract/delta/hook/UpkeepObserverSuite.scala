package org.apache.spark.sql.delta.upkeep.hook

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepConf

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{
  DeltaLog,
  DeltaOperations,
  NoOpTransactionExecutionObserver,
  OptimisticTransaction
}
import org.apache.spark.sql.delta.hooks.AutoCompact
import org.apache.spark.sql.delta.upkeep.{TestEvents, TestSession}
import org.apache.spark.sql.delta.upkeep.versions.{DeltaApi, TransactionEvents}

class UpkeepObserverSuite extends AnyFunSuite {
  import TestSession._

  private class Foreign extends TestEvents {
    val calls = new ConcurrentLinkedQueue[String]
    override def starting(begin: => OptimisticTransaction): OptimisticTransaction = {
      calls.add("start")
      begin
    }
    override def preparing(): Unit = { calls.add("prepare"); () }
    override def committed(): Unit = { calls.add("committed"); () }
  }

  private def api = DeltaApi.current

  test("an observer that was there goes on seeing each transaction, once") {
    val path = newTable("observed", 1)
    val foreign = new Foreign
    foreign.observe {
      spark.sql(s"INSERT INTO delta.`$path` VALUES (10, 0)")
      assert(UpkeepObserver.of(api.threadObserver).nonEmpty)
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
    val ended = api.observer(new UpkeepObserver(NoOpTransactionExecutionObserver, context = null))
    for (before <- Seq(NoOpTransactionExecutionObserver, ended)) api.observed(before) {
      val observers = Seq.fill(2) {
        UpkeepObserver.install(spark.sparkContext)
        UpkeepObserver.of(api.threadObserver).get
      }
      assert(observers.distinct.size == 1)
      assert(
        observers.head.isOf(spark.sparkContext) && observers.head.next == NoOpTransactionExecutionObserver
      )
    }
  }

  private def commit(table: String, events: TransactionEvents): OptimisticTransaction = {
    val log = DeltaLog.forTable(spark, newTable(table, 1))
    api.observed(api.observer(events)) {
      val transaction = log.startTransaction(catalogTableOpt = None)
      transaction.registerPostCommitHook(AutoCompact)
      transaction.commit(Nil, DeltaOperations.ManualUpdate)
      transaction
    }
  }

  test("a thread that outlives its application does Delta's auto-compactions, and is observed as before") {
    val ours =
      commit("observed-running", new UpkeepObserver(NoOpTransactionExecutionObserver, spark.sparkContext))
    val ourHook = api.hook(UpkeepAutoCompact)
    assert(ours.containsPostCommitHook(ourHook) && !ours.containsPostCommitHook(AutoCompact))
    val foreign = new Foreign
    val later = commit("observed-ended", new UpkeepObserver(api.observer(foreign), context = null))
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
