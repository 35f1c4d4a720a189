package org.apache.spark.sql.delta.upkeep.metrics

import java.io.File
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepException

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.delta.upkeep.{Meanwhile, TestSession}

/** What Spark's metrics system shows of statements and their steps. */
class UpkeepMetricsSuite extends AnyFunSuite {
  import TestSession._

  private type Counts = Map[String, Long]

  /** Counters, and how often timers and histograms were updated. */
  private def counts: Counts =
    spark.sparkContext.env.metricsSystem.getSourcesByName("deltaUpkeep").headOption.fold(Map.empty[
      String,
      Long
    ]) {
      source =>
        val registry = source.metricRegistry
        (registry.getCounters.asScala ++ registry.getTimers.asScala ++ registry.getHistograms.asScala)
          .map { case (name, metric) => name -> metric.getCount }.toMap
    }

  private def moved(work: => Any): Counts = {
    val before = counts
    work
    counts.map { case (name, now) => name -> (now - before.getOrElse(name, 0L)) }.filter(_._2 != 0)
  }

  private def run(statement: String, path: String, in: SparkSession = spark): Row =
    in.sql(statement.replace("{t}", s"delta.`$path`")).collect().last

  private def ended(kind: String, outcome: String): Counts =
    Map(s"statement.$kind.$outcome" -> 1L, s"statement.$kind.time" -> 1L)

  private def step(name: String, outcome: String): Counts =
    Map(s"step.$name.$outcome" -> 1L, s"step.$name.time" -> 1L)

  private def of(prefix: String, all: Counts): Counts = all.filter(_._1.startsWith(prefix))

  private def assertMoved(statement: String, path: String)(expected: Counts*): Assertion =
    assert(moved(run(statement, path)) == expected.flatten.toMap)

  test("OPTIMIZE: outcomes, files, bytes and tiers") {
    val path = newTable("metricsOptimize", 4)
    assertMoved("OPTIMIZE {t} DRY RUN", path)(ended("optimize", "planned"))
    var result = Option.empty[Row]
    val done = moved { result = Some(run("OPTIMIZE {t}", path)) }
    val metrics = result.get.getAs[Row]("metrics")
    def size(name: String): Long = metrics.getAs[Row](name).getAs[Long]("totalSize")
    assert(of("statement.", done) == ended("optimize", "done"))
    assert(of("optimize.", done) - "optimize.tier.splice.bytes" == Map(
      "optimize.commits" -> 1L,
      "optimize.bins.committed" -> 2L,
      "optimize.filesIn" -> 4L,
      "optimize.filesOut" -> 2L,
      "optimize.bytesIn" -> size("filesRemoved"),
      "optimize.bytesOut" -> size("filesAdded")
    ))
    assert(done("optimize.tier.splice.bytes") > 0)
    assertMoved("OPTIMIZE {t}", path)(ended("optimize", "nothingToDo"))
    assertMoved("REORG TABLE {t} APPLY (PURGE)", path)(ended("reorg", "nothingToDo"))
  }

  test("a refusal is counted with its condition, another error as a failure") {
    val path = newTable("metricsRefused", 4)
    val refused = moved(intercept[UpkeepException](run("CHECKPOINT {t} OPTIONS (nope = '1')", path)))
    assert(refused == ended("checkpoint", "refused") + ("error.UNKNOWN_OPTION" -> 1L))
    val failed = moved(intercept[IllegalStateException] {
      Meanwhile.changing(Iterator.single(() => throw new IllegalStateException("a test")))(run(
        "OPTIMIZE {t}",
        path
      ))
    })
    assert(failed == ended("optimize", "failed"))
  }

  test("the rows tier: files by cause") {
    val byOrder = newTable("metricsOrder", 4)
    val gathered = moved(run("OPTIMIZE {t} ZORDER BY (id)", byOrder))
    assert(gathered("optimize.tier.gather.bytes") > 0 && of("optimize.rowsTier.", gathered).isEmpty)
    val bySetting = newTable("metricsSetting", 4)
    val set = moved(withConf("spark.deltaUpkeep.optimize.engine" -> "rows")(run("OPTIMIZE {t}", bySetting)))
    assert(of("optimize.rowsTier.", set) == Map("optimize.rowsTier.setting" -> 4L))
    val old = new File(root, "metricsOldDates").getPath
    spark.sql(s"CREATE TABLE delta.`$old` (day DATE) USING delta")
    withConf("spark.sql.parquet.datetimeRebaseModeInWrite" -> "LEGACY") {
      (1 to 2).foreach(_ => spark.sql(s"INSERT INTO delta.`$old` VALUES (DATE'1500-01-01')"))
    }
    val byFile = moved(run("OPTIMIZE {t}", old))
    assert(of("optimize.rowsTier.", byFile) == Map("optimize.rowsTier.file" -> 2L))
  }

  /** Two files of ten rows. */
  private def deletable(name: String): String = {
    val path = newTable(name, 0, "delta.enableDeletionVectors" -> "true")
    for (from <- Seq(0L, 10L))
      spark.range(from, from + 10).selectExpr("id", "0 AS p").coalesce(1)
        .write.format("delta").mode("append").save(path)
    path
  }

  private def optimizeWhile(path: String, change: String): Counts =
    moved(Meanwhile.changing(Iterator.single(() => { run(change, path); () }))(run("OPTIMIZE {t}", path)))

  test("conflicts: bins that are carried over, and bins that are lost") {
    val carried = optimizeWhile(deletable("metricsRebased"), "DELETE FROM {t} WHERE id = 3")
    assert(carried("optimize.conflicts") == 1 && carried("optimize.bins.rebased") == 1)
    assert(carried("optimize.bins.committed") == 1 && !carried.contains("optimize.bins.lost"))
    val path = deletable("metricsLost")
    val lost = withConf("spark.deltaUpkeep.optimize.engine" -> "rows") {
      optimizeWhile(path, "DELETE FROM {t} WHERE id = 3")
    }
    // It is planned again.
    assert(lost("optimize.conflicts") == 1 && lost("optimize.bins.lost") == 1)
    assert(lost("optimize.bins.committed") == 1 && lost("optimize.filesIn") == 2)
  }

  test("CHECKPOINT: those that were written, their bytes and age; those that exist") {
    val path = newTable("metricsCheckpoint", 3)
    var result = Option.empty[Row]
    val written = moved { result = Some(run("CHECKPOINT {t}", path)) }
    assert(written == ended("checkpoint", "done") ++ Map(
      "checkpoint.written" -> 1L,
      "checkpoint.bytes" -> result.get.getAs[Long]("sizeInBytes"),
      "checkpoint.time" -> 1L,
      "checkpoint.age" -> 1L
    ))
    val source = spark.sparkContext.env.metricsSystem.getSourcesByName("deltaUpkeep").head
    assert(source.metricRegistry.getHistograms.get("checkpoint.age").getSnapshot.getValues.contains(3L))
    assertMoved("CHECKPOINT {t}", path)(ended("checkpoint", "nothingToDo"), Map("checkpoint.exists" -> 1L))
  }

  test("CLEANUP LOG: files and bytes that were deleted. DESCRIBE HEALTH") {
    val path = newTable("metricsCleanup", 3)
    run("CHECKPOINT {t}", path)
    assertMoved("CLEANUP LOG {t}", path)(ended("cleanupLog", "nothingToDo"))
    val long = System.currentTimeMillis() - 60L * 24 * 3600 * 1000
    new File(path, "_delta_log").listFiles().foreach(_.setLastModified(long))
    var result = Option.empty[Row]
    val done = moved { result = Some(run("CLEANUP LOG {t}", path)) }
    assert(result.get.getAs[Long]("filesDeleted") > 0)
    assert(done == ended("cleanupLog", "done") ++ Map(
      "cleanup.filesDeleted" -> result.get.getAs[Long]("filesDeleted"),
      "cleanup.bytesDeleted" -> result.get.getAs[Long]("bytesDeleted")
    ))
    assertMoved("DESCRIBE HEALTH {t}", path)(ended("describeHealth", "done"))
  }

  test("MAINTAIN: the statement and each of its steps") {
    val path = newTable("metricsMaintain", 4, "delta.enableExpiredLogCleanup" -> "false")
    val planned =
      Seq(
        step("optimize", "planned"),
        step("checkpoint", "nothingToDo"),
        step("vacuum", "skipped"),
        step("cleanup", "skipped")
      )
    assertMoved("MAINTAIN {t} DRY RUN", path)(ended("maintain", "planned") +: planned: _*)
    val done = moved(run("MAINTAIN {t}", path))
    assert(of("statement.", done) == ended("maintain", "done"))
    assert(of("step.", done) ==
      step("optimize", "done") ++ step("checkpoint", "nothingToDo") ++ step("vacuum", "skipped") ++ step(
        "cleanup",
        "skipped"
      ))
    assert(done("optimize.filesIn") == 4)
    val again =
      Seq(
        step("optimize", "nothingToDo"),
        step("checkpoint", "nothingToDo"),
        step("vacuum", "skipped"),
        step("cleanup", "skipped")
      )
    assertMoved("MAINTAIN {t}", path)(ended("maintain", "nothingToDo") +: again: _*)
  }

  test("sessions of one application are counted together, but not those that are switched off") {
    val path = newTable("metricsSessions", 2)
    assert(moved(run("DESCRIBE HEALTH {t}", path, spark.newSession())) == ended("describeHealth", "done"))
    val off = spark.newSession()
    off.conf.set("spark.deltaUpkeep.enabled", "false")
    assert(moved(intercept[UpkeepException](run("MAINTAIN {t}", path, off))).isEmpty)
  }

  test("the page of metrics has every metric") {
    // Those of the tests before.
    val kinds =
      Set("optimize", "reorg", "checkpoint", "cleanupLog", "vacuum", "describeHealth", "maintain", "cleanup")
    val named = counts.keySet.map { name =>
      val parts = name.split('.').toSeq
      parts.head match {
        case "statement" | "step" =>
          assert(kinds(parts(1)), name)
          s"${parts.head}.<name>.${parts.last}"
        case "error" => "error.<NAME>"
        case _ => name
      }
    }
    val metric = """(?m)^\| `([a-zA-Z.<>]+)` \|""".r
    val section = Files.readString(Path.of("../python/docs/metrics.md"))
    val inReadme = metric.findAllMatchIn(section).map(_.group(1)).toSet
    assert(inReadme - "afterCommit.queueDepth" == named)
  }
}
