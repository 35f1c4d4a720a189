package org.apache.spark.sql.delta.upkeep.hook

import java.io.File
import java.security.PrivilegedExceptionAction
import java.time.{Clock, Instant, ZoneId, ZoneOffset}
import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}

import scala.jdk.CollectionConverters._

import io.delta.VERSION
import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.store.WholeFileSystem
import io.deltaupkeep.plan.checkpoint.{CheckpointResult, HookOutcome}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.UserGroupInformation
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession

/** Checkpoints after commits: that they come, by whom, and that no commit waits for them. */
class CheckpointHookSuite extends AnyFunSuite {
  import TestSession._

  private val WaitMs = 60000L
  private val everyCommit = Seq("delta.checkpointInterval" -> "1", "delta.enableDeletionVectors" -> "false")

  private def worker: CheckpointWorker = CheckpointWorker.of(spark)

  private def withMode(mode: String, of: SparkSession = spark)(body: => Unit): Unit = {
    val before = of.conf.get(UpkeepConf.CheckpointMode.key)
    of.conf.set(UpkeepConf.CheckpointMode.key, mode)
    try body
    finally of.conf.set(UpkeepConf.CheckpointMode.key, before)
  }

  private def versionOf(path: String): Long = {
    DeltaLog.clearCache()
    newest(path).version
  }

  private def checkpointsIn(path: String): Set[Long] =
    new File(path, "_delta_log").list().filter(_.endsWith(".checkpoint.parquet")).filterNot(_.startsWith("."))
      .map(_.take(20).toLong).toSet

  private def outcome(path: String): Option[HookOutcome] =
    worker.lastOutcome(TableKey.of(newest(path)))

  /** Ours have Bloom filters. */
  private def isOurs(path: String, version: Long): Boolean = {
    val file = new Path(path, f"_delta_log/$version%020d.checkpoint.parquet")
    val conf = new Configuration()
    val status = file.getFileSystem(conf).getFileStatus(file)
    org.apache.parquet.hadoop.ParquetFileReader
      .open(org.apache.parquet.hadoop.util.HadoopInputFile.fromStatus(status, conf))
      .getRowGroups.asScala.flatMap(_.getColumns.asScala)
      .exists(_.getBloomFilterOffset > 0)
  }

  /** A checkpoint that keeps the worker busy until it is told to go on. */
  private class Blocking(of: PendingCheckpoint, goOn: CountDownLatch)
      extends PendingCheckpoint(of.session, of.snapshot, of.catalogTable, of.version, of.reason) {
    override def write(): CheckpointResult = {
      goOn.await(WaitMs, TimeUnit.MILLISECONDS)
      super.write()
    }
  }

  private def pendingOf(path: String): PendingCheckpoint = {
    val snapshot = newest(path)
    PendingCheckpoint(spark, snapshot, None, snapshot.version, "a test")
  }

  private def deleteAll(file: File): Unit = {
    Option(file.listFiles()).foreach(_.foreach(deleteAll))
    assert(file.delete())
  }

  private def clockOf(now: => Instant): Clock = new Clock {
    override def instant(): Instant = now
    override def getZone: ZoneId = ZoneOffset.UTC
    override def withZone(zone: ZoneId): Clock = this
  }

  private lazy val busyTable = newTable("hookBusy", 1)

  /** Runs what commits while the worker is busy with another table; the checkpoint comes once it is not. */
  private def assertWritten(path: String)(commit: => Unit): Unit = withMode("async") {
    val goOn = new CountDownLatch(1)
    worker.submit(new Blocking(pendingOf(busyTable), goOn))
    try {
      commit
      assert(!checkpointsIn(path).contains(versionOf(path)), "the commit has waited for the checkpoint")
    } finally goOn.countDown()
    assert(worker.drain(WaitMs))
    val version = versionOf(path)
    assert(checkpointsIn(path).contains(version) && isOurs(path, version))
    assert(outcome(path).exists(found => found.version == version && !found.isFailure))
  }

  private def rows(session: SparkSession, from: Int): DataFrame =
    session.range(from.toLong, from + 3L).selectExpr("id", "CAST(id % 2 AS INT) AS p")

  private val statements = Seq[(String, String => Unit)](
    "a DataFrame's append" -> (path => rows(spark, 10).write.format("delta").mode("append").save(path)),
    "a DataFrame's overwrite" -> (path => rows(spark, 10).write.format("delta").mode("overwrite").save(path)),
    "INSERT" -> (path => append(path, 50)),
    "UPDATE" -> (path => spark.sql(s"UPDATE delta.`$path` SET id = id + 100")),
    "DELETE" -> (path => spark.sql(s"DELETE FROM delta.`$path` WHERE id = 1")),
    "MERGE" -> { path =>
      rows(spark, 2).createOrReplaceTempView("hookSource")
      spark.sql(
        s"MERGE INTO delta.`$path` t USING hookSource s ON t.id = s.id " +
          "WHEN MATCHED THEN UPDATE SET p = s.p WHEN NOT MATCHED THEN INSERT *"
      )
    },
    "REPLACE" -> { path =>
      assume(SPARK_VERSION.take(3) != "3.5", "Delta 3 cannot replace a table on the last Spark 3.5")
      spark.sql(
        s"CREATE OR REPLACE TABLE delta.`$path` USING delta " +
          "TBLPROPERTIES ('delta.checkpointInterval' = '1') AS SELECT id FROM range(3)"
      )
    },
    "ALTER TABLE" -> (path => spark.sql(s"ALTER TABLE delta.`$path` ADD COLUMN extra STRING")),
    "OPTIMIZE" -> (path => spark.sql(s"OPTIMIZE delta.`$path`")),
    "a stream" -> (path => stream(path)(_.format("delta").start(path))),
    "foreachBatch" -> { path =>
      stream(path)(_.foreachBatch { (batch: DataFrame, _: Long) =>
        batch.write.format("delta").mode("append").save(path)
      }.start())
    },
    "a thread of the user's" -> { path =>
      val pool = Executors.newFixedThreadPool(1)
      try pool.submit((() => append(path, 60)): Runnable).get()
      finally pool.shutdown()
    },
    "threads of several users, at once" -> { path =>
      val pool = Executors.newFixedThreadPool(4)
      try {
        val users = (1 to 4).map(user => pool.submit((() => appendAsUser(path, user)): Runnable))
        users.foreach(_.get())
      } finally pool.shutdown()
    },
    "another session" -> { path =>
      val other = spark.newSession()
      withMode("async", other)(rows(other, 20).write.format("delta").mode("append").save(path))
    }
  )

  private def appendAsUser(path: String, user: Int): Unit = {
    val session = spark.newSession()
    session.conf.set(UpkeepConf.CheckpointMode.key, "async")
    (1 to 3).foreach { i =>
      rows(session, 100 * user + 10 * i).write.format("delta").mode("append").save(path)
    }
  }

  private def stream(path: String)(
      start: org.apache.spark.sql.streaming.DataStreamWriter[org.apache.spark.sql.Row] => Any
  ): Unit = {
    val source = new File(root, s"${new File(path).getName}-source").getAbsolutePath
    rows(spark, 30).write.format("delta").save(source)
    val writer = spark.readStream.format("delta").load(source).writeStream
      .option("checkpointLocation", s"$source-progress")
      .trigger(org.apache.spark.sql.streaming.Trigger.AvailableNow())
    start(writer)
    spark.streams.active.foreach(_.awaitTermination())
  }

  for (((what, commit), i) <- statements.zipWithIndex)
    test(s"the checkpoint after $what comes, and the commit does not wait for it") {
      val path = newTable(s"hook-$i", 4, everyCommit: _*)
      assertWritten(path)(commit(path))
    }

  test("CTAS of more bytes than the table's property allows") {
    val path = new File(root, "hookCtas").getAbsolutePath
    assertWritten(path) {
      spark.sql(
        s"CREATE TABLE delta.`$path` USING delta " +
          "TBLPROPERTIES ('deltaUpkeep.checkpoint.commitBytes' = '10b') AS SELECT id FROM range(3)"
      )
    }
    assert(outcome(path).exists(_.message.contains("since the last checkpoint")))
  }

  private def assertIsDeltas(table: String): Unit = {
    val version = versionOf(table)
    assert(checkpointsIn(table).contains(version) && !isOurs(table, version))
    assert(outcome(table).isEmpty)
  }

  test("RESTORE and CLONE keep Delta's own checkpoint") {
    withMode("async") {
      val path = newTable("hookRestored", 2)
      spark.sql(s"RESTORE TABLE delta.`$path` TO VERSION AS OF 1")
      val clone = new File(root, "hookClone").getAbsolutePath
      spark.sql(s"CREATE TABLE delta.`$clone` SHALLOW CLONE delta.`$path`")
      Seq(path, clone).foreach(assertIsDeltas)
    }
  }

  test("CONVERT keeps Delta's own checkpoint") {
    assume(!(SPARK_VERSION == "4.0.1" && VERSION == "4.0.0"), "this Delta lacks a method of this Spark")
    withMode("async") {
      val path = new File(root, "hookConverted").getAbsolutePath
      spark.range(3).write.parquet(path)
      spark.sql(s"CONVERT TO DELTA parquet.`$path`")
      assertIsDeltas(path)
    }
  }

  test("sync: the checkpoint is there when the commit returns") {
    withMode("sync") {
      val path = newTable("hookSync", 2, everyCommit: _*)
      assert(checkpointsIn(path) == Set(1L, 2L))
      assert(isOurs(path, 1) && isOurs(path, 2))
    }
  }

  test("delta: the checkpoint is Delta's own") {
    val path = newTable("hookDelta", 2, everyCommit: _*)
    assert(checkpointsIn(path) == Set(1L, 2L))
    assert(!isOurs(path, 1) && !isOurs(path, 2) && outcome(path).isEmpty)
  }

  test("Spark's metrics system has the counts") {
    assert(worker.drain(WaitMs))
    val source = spark.sparkContext.env.metricsSystem.getSourcesByName("deltaUpkeep").head
    def count(name: String): Long =
      source.metricRegistry.getCounters.get(name).getCount
    val names = Seq("due", "written", "skipped", "failed").map(name => s"afterCommit.$name")
    val before = names.map(count)
    withMode("async") {
      newTable("hookCounted", 1, everyCommit: _*)
      assert(worker.drain(WaitMs))
    }
    assert(names.map(count).zip(before).map { case (now, earlier) => now - earlier } == Seq(1, 1, 0, 0))
    assert(
      count("checkpoint.bytes") > 0 && source.metricRegistry.getTimers.get("checkpoint.time").getCount > 0
    )
    assert(source.metricRegistry.getGauges.get("afterCommit.queueDepth").getValue == 0)
  }

  test("a table's property that cannot be read gives way to the session's setting") {
    withMode("async") {
      val path = newTable("hookUnreadable", 2, "deltaUpkeep.checkpoint.commitBytes" -> "many")
      assert(versionOf(path) == 2 && outcome(path).isEmpty)
    }
  }

  private def namesIn(path: String, version: Long): Set[String] =
    new File(path, "_delta_log").list().toSet.filter(_.matches(f"$version%020d\\.checkpoint\\..*"))
      .map(_.drop(21).replaceAll("[-0-9a-f]{36}", "id"))

  test("Delta's settings of the parts and the format of a checkpoint apply, as they do to Delta's own") {
    val v2 = Seq("delta.checkpointPolicy" -> "v2")
    val partSize = "spark.databricks.delta.checkpoint.partSize"
    val format = "spark.databricks.delta.checkpointV2.topLevelFileFormat"
    val cases = Seq(
      (Nil, partSize -> "2"),
      (Nil, partSize -> "100"),
      (Nil, format -> "parquet"),
      (v2, partSize -> "2"),
      (v2, format -> "parquet"),
      (v2, format -> "json")
    )
    def namesBy(
        mode: String,
        name: String,
        properties: Seq[(String, String)],
        setting: (String, String)
    ): Set[String] = {
      val path = newTable(name, 3, ("delta.checkpointInterval" -> "4") +: properties: _*)
      withMode(mode)(withConf(setting)(append(path, 100)))
      namesIn(path, 4)
    }
    for (((properties, setting), i) <- cases.zipWithIndex) {
      def by(mode: String) = namesBy(mode, s"hookSettings-$i-$mode", properties, setting)
      // How many parts there are, Delta 3.2 counts otherwise.
      def formsBy(mode: String) = by(mode).map(_.replaceAll("\\d{10}", "n"))
      val (ours, deltas) = (formsBy("sync"), formsBy("delta"))
      assert(ours.nonEmpty && ours == deltas, s"$properties, $setting")
    }
    // The protocol has no parts where the table has the feature.
    val feature = Seq("delta.feature.v2Checkpoint" -> "supported")
    assert(namesBy("sync", "hookSettings-feature", feature, partSize -> "2") == Set("checkpoint.parquet"))
    val sidecars = new File(root, "hookSettings-3-sync/_delta_log/_sidecars").listFiles()
      .filter(_.getName.endsWith(".parquet"))
    val actions = sidecars.map(file => spark.read.parquet(file.toString).count()).toSeq
    // Two for four files, or three if one of the two threads was given three of them.
    assert(Set(2, 3)(actions.size) && actions.sum == 4 && actions.forall(_ <= 2), actions)
  }

  test("of a table only the newest checkpoint waits") {
    withMode("async") {
      val path = newTable("hookCoalesced", 1, everyCommit: _*)
      assert(worker.drain(WaitMs))
      val goOn = new CountDownLatch(1)
      worker.submit(new Blocking(pendingOf(busyTable), goOn))
      (10 to 14).foreach(append(path, _))
      goOn.countDown()
      assert(worker.drain(WaitMs))
      assert(checkpointsIn(path) == Set(1L, 6L))
    }
  }

  test("a failure fails no commit, shows in DESCRIBE HEALTH, and is made good after a later commit") {
    val path = newTable("hookFailing", 2, "delta.checkpointInterval" -> "1000")
    val pending = pendingOf(path)
    val usual = worker
    var now = Instant.EPOCH
    CheckpointWorker.install(new CheckpointWorker(spark.sparkContext, WaitMs, clockOf(now)))
    try {
      worker.submit(new PendingCheckpoint(
        pending.session,
        pending.snapshot,
        None,
        pending.version,
        "a test"
      ) {
        override def write(): CheckpointResult = throw new IllegalStateException("the store is down")
      })
      assert(worker.drain(WaitMs))
      val check = spark.sql(s"DESCRIBE HEALTH delta.`$path`").where("check = 'checkpointAfterCommit'").head()
      assert(check.getAs[String]("severity") == "warning")
      assert(check.getAs[String]("message").contains("the store is down"))
      withMode("async")(append(path, 100))
      assert(worker.drain(WaitMs) && !checkpointsIn(path).contains(3L), "it was tried again too soon")
      now = now.plusSeconds(1)
      assertWritten(path)(append(path, 101))
      assert(outcome(path).exists(_.message.contains("the last one failed")))
    } finally {
      worker.finish()
      CheckpointWorker.install(usual)
    }
  }

  private val fatal = Seq[() => Throwable](
    () => new OutOfMemoryError("a test"),
    () => new NoClassDefFoundError("a codec"),
    () => new InterruptedException("a test")
  )

  for ((error, i) <- fatal.zipWithIndex)
    test(s"after ${error().getClass.getSimpleName} other checkpoints go on, and DESCRIBE HEALTH shows it") {
      val path = newTable(s"hookFatal-$i", 1)
      worker.submit(new PendingCheckpoint(spark, newest(path), None, 1, "a test") {
        override def write(): CheckpointResult = throw error()
      })
      assert(worker.await(TableKey.of(newest(path)), WaitMs))
      val check = spark.sql(s"DESCRIBE HEALTH delta.`$path`").where("check = 'checkpointAfterCommit'").head()
      assert(check.getAs[String]("severity") == "warning")
      assert(check.getAs[String]("message") == s"${error().getClass.getSimpleName}: ${error().getMessage}")
      val other = newTable(s"hookAfterFatal-$i", 1, everyCommit: _*)
      assertWritten(other)(append(other, 100))
    }

  test("who waits for a checkpoint goes on after a time") {
    val path = newTable("hookAwaited", 1)
    val goOn = new CountDownLatch(1)
    worker.submit(new Blocking(pendingOf(path), goOn))
    try assert(!worker.await(TableKey.of(newest(path)), atMostMs = 1))
    finally goOn.countDown()
    assert(worker.await(TableKey.of(newest(path)), WaitMs))
  }

  /** The commit itself writes the checkpoint: the background thread is busy until afterwards. */
  private def assertWrittenAtOnce(path: String)(commit: => Unit): Unit = withMode("async") {
    val goOn = new CountDownLatch(1)
    worker.submit(new Blocking(pendingOf(busyTable), goOn))
    try {
      commit
      val version = versionOf(path)
      assert(namesIn(path, version).nonEmpty && outcome(path).exists(_.version == version))
    } finally goOn.countDown()
    assert(worker.drain(WaitMs))
  }

  test(
    "a checkpoint that needs a Spark job is there when the commit returns: the end of Spark cancels jobs"
  ) {
    val noJson =
      newTable("hookNoJson", 1, ("delta.checkpoint.writeStatsAsJson" -> "false") +: everyCommit: _*)
    assertWrittenAtOnce(noJson)(append(noJson, 100))
    withConf("spark.databricks.delta.checkpoint.partSize" -> "1") {
      val inParts = newTable("hookInParts", 2, everyCommit: _*)
      assertWrittenAtOnce(inParts)(append(inParts, 100))
    }
    withConf("spark.databricks.delta.checkpointV2.topLevelFileFormat" -> "parquet") {
      val v2 = newTable("hookV2Parquet", 1, ("delta.checkpointPolicy" -> "v2") +: everyCommit: _*)
      assertWrittenAtOnce(v2)(append(v2, 100))
    }
  }

  test("a checkpoint that an earlier application has not finished is there when the next commit returns") {
    val path = newTable("hookUnfinished", 5, "delta.checkpointInterval" -> "1000")
    spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.checkpointInterval' = '4')")
    val before = spark.sparkContext.startTime - 1000
    new File(path, "_delta_log").listFiles().foreach(_.setLastModified(before))
    DeltaLog.clearCache()
    assertWrittenAtOnce(path)(append(path, 100))
    assert(versionOf(path) == 7)
  }

  test(
    "after DROP and CREATE at the same path the new table gets its checkpoints from its first versions on"
  ) {
    val path = new File(root, "hookRecreated").getAbsolutePath
    def create(commits: Int): Unit = withMode("async") {
      spark.sql(
        s"CREATE TABLE hookRecreated (id BIGINT, p INT) USING delta LOCATION '$path' " +
          "TBLPROPERTIES ('delta.checkpointInterval' = '2')"
      )
      (1 to commits).foreach(append(path, _))
      assert(worker.drain(WaitMs))
    }
    create(5)
    val failing = new PendingCheckpoint(spark, newest(path), None, 5, "a test") {
      override def write(): CheckpointResult = throw new IllegalStateException("the store is down")
    }
    assertThrows[IllegalStateException](worker.run(failing))
    spark.sql("DROP TABLE hookRecreated")
    deleteAll(new File(path))
    create(2)
    assert(checkpointsIn(path) == Set(2L))
    assert(outcome(path).exists(found => found.version == 2 && !found.isFailure))
  }

  test("one that was due in an application that has ended is made good by the next commit") {
    val path = newTable("hookMissing", 5, "delta.checkpointInterval" -> "1000")
    // Which makes that of version 4 due in hindsight.
    spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.checkpointInterval' = '4')")
    assertWritten(path)(append(path, 100))
    assert(
      versionOf(path) == 7 && outcome(path).exists(_.message.contains("7 commits since the last checkpoint"))
    )
  }

  test("MAINTAIN, DESCRIBE HEALTH and the next commit agree on what makes a checkpoint due") {
    val rules = Seq(
      "delta.checkpointInterval" -> "4",
      "deltaUpkeep.checkpoint.commitBytes" -> "10b",
      "deltaUpkeep.checkpoint.maxAge" -> "1ms"
    )
    for (((property, value), i) <- rules.zipWithIndex) {
      val path = newTable(s"hookAgreed-$i", 5, "delta.checkpointInterval" -> "1000")
      def health =
        spark.sql(s"DESCRIBE HEALTH delta.`$path`").where("check = 'commitsSinceCheckpoint'").head()
      def step = spark.sql(s"MAINTAIN delta.`$path` DRY RUN").where("step = 'checkpoint'").head()
      assert(health.getAs[String]("severity") == "ok" && !step.getAs[Boolean]("due"))

      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('$property' = '$value')")
      assert(health.getAs[String]("severity") == "warning" && step.getAs[Boolean]("due"))
      withMode("sync")(append(path, 100))
      assert(checkpointsIn(path) == Set(7L))
      val reasons = Seq(health.getAs[String]("message"), step.getAs[String]("reason"))
      val name = s"$property is"
      assert(outcome(path).exists(_.message.contains(name)))
      if (property == "deltaUpkeep.checkpoint.maxAge") assert(reasons.forall(_.contains(name)))
      else assert(health.getAs[String]("severity") == "ok" && !step.getAs[Boolean]("due"))
    }
  }

  test("MAINTAIN waits for the checkpoint that its OPTIMIZE has made due, and does not write it again") {
    val path = newTable("hookMaintained", 5, "delta.checkpointInterval" -> "6")
    withMode("async") {
      val steps = spark.sql(s"MAINTAIN delta.`$path`").collect().map(row =>
        row.getAs[String]("step") -> row.getAs[String]("status")
      )
      assert(steps.toSeq.take(2) == Seq("optimize" -> "done", "checkpoint" -> "not due"))
      assert(checkpointsIn(path) == Set(6L) && outcome(path).exists(_.version == 6))
    }
  }

  test("the checkpoint is written as the user who has committed") {
    withMode("async") {
      val path = newTableAt(s"whole://${new File(root, "hookUsers").getAbsolutePath}", 1, everyCommit: _*)
      for ((user, version) <- Seq("alice" -> 2, "bob" -> 3)) {
        val commit: PrivilegedExceptionAction[Unit] = () => append(path, version)
        UserGroupInformation.createRemoteUser(user).doAs(commit)
        assert(worker.drain(WaitMs))
        val file = new File(root, f"hookUsers/_delta_log/$version%020d.checkpoint.parquet")
        assert(WholeFileSystem.userOf(file.toPath) == user)
      }
    }
  }

  /** Makes all files of the log older than the retention. */
  private def ageLog(path: String): Unit = {
    val old = System.currentTimeMillis() - 40L * 24 * 3600 * 1000
    new File(path, "_delta_log").listFiles().foreach(_.setLastModified(old))
  }

  test("expired files of the log go after the checkpoint, where the table asks for it") {
    for (cleanUp <- Seq(true, false)) {
      val path =
        newTable(s"hookCleanup-$cleanUp", 4, "delta.enableExpiredLogCleanup" -> cleanUp.toString)
      spark.sql(s"CHECKPOINT delta.`$path`")
      ageLog(path)
      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.checkpointInterval' = '2')")
      DeltaLog.clearCache()
      withMode("sync")(append(path, 100))
      val isGone = !new File(path, "_delta_log/00000000000000000000.json").exists()
      assert(isGone == cleanUp)
    }
  }

  test("no file of the log goes if the table no longer asks for it when the checkpoint is written") {
    val path = newTable("hookCleanupLater", 4)
    spark.sql(s"CHECKPOINT delta.`$path`")
    ageLog(path)
    DeltaLog.clearCache()
    withMode("delta")(append(path, 100))
    val pending = pendingOf(path)
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'false')"
    )
    assert(pending.cleanUp().isEmpty)
    assert(new File(path, "_delta_log/00000000000000000000.json").exists())
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'true')"
    )
    assert(pending.cleanUp().flatMap(_.filesDeleted).exists(_ > 0))
  }
}
