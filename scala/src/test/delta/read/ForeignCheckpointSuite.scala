package org.apache.spark.sql.delta.upkeep.read

import java.io.File
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.cleanup.{CleanupPlan, CleanupSettings, Granularity}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.checkpoint.CheckpointedLogs
import org.apache.spark.sql.delta.upkeep.cleanup.TableCleanup
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}
import org.apache.spark.sql.functions.col

/** Checkpoints, and files that count what they hold, as other writers leave them. */
class ForeignCheckpointSuite extends AnyFunSuite with CheckpointedLogs {
  import TestSession._

  private val DayMs = 24L * 3600 * 1000

  private def log(path: String, name: String): Path = new File(path, s"_delta_log/$name").toPath

  private def classicOf(path: String, version: Int): Path = log(path, f"$version%020d.checkpoint.parquet")

  private def write(file: Path, text: String): Unit = {
    Files.writeString(file, text)
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    DeltaLog.clearCache()
  }

  /** Deletes the commits before a version, as a cleanup does. */
  private def forgetBefore(path: String, version: Int): Unit = (0 until version).foreach { older =>
    Seq("json", "crc").foreach(kind => Files.deleteIfExists(log(path, f"$older%020d.$kind")))
  }

  /** Once all versions have expired. */
  private def cleanup(path: String): CleanupPlan = {
    DeltaLog.clearCache()
    val target = DeltaTarget.byPath(spark, "TEST", path, Map.empty)
    val handle = DeltaHandle.open(spark, "TEST", target, Intent.Checkpoint)
    TableCleanup(handle, CleanupSettings(DayMs, Granularity.Day), System.currentTimeMillis() + 60 * DayMs).plan
  }

  private def deletedCommits(plan: CleanupPlan): Int = plan.deletions.count(_.name.matches("\\d{20}\\.json"))

  /** delta-rs wrote so until July 2023 (its issue 1468). */
  private def nameBySize(path: String, version: Int): Unit =
    write(
      log(path, "_last_checkpoint"),
      s"""{"version":$version,"size":${Files.size(classicOf(path, version))}}"""
    )

  test("a _last_checkpoint whose size is that of the file says nothing against it") {
    val path = newTable("sizeInBytes", 3, bothPolicies: _*)
    checkpoint(path)
    nameBySize(path, 3)
    assert(checkpoint(path)._1 == "none")
    append(path, 4)
    forgetBefore(path, 3)
    nameBySize(path, 3)
    assert(checkpoint(path)._1 == "incremental")
    nameBySize(path, 4)
    assert(deletedCommits(cleanup(path)) == 1)
    assert(ids(path) == Seq(1, 2, 3, 4))
  }

  /** A table clustered by its id; version 3 has a checkpoint by a writer that leaves out domains. */
  private def withoutDomains(name: String): String = {
    val path = new File(root, name).getAbsolutePath
    spark.sql(
      s"CREATE TABLE delta.`$path` (id BIGINT, p INT) USING delta CLUSTER BY (id) TBLPROPERTIES ('delta.checkpointInterval' = '1000')"
    )
    (1 to 3).foreach(append(path, _))
    checkpoint(path)
    val copy = Files.createTempDirectory(root.toPath, "copy")
    spark.read.parquet(classicOf(path, 3).toString).where(col("domainMetadata").isNull).coalesce(1)
      .write.mode("overwrite").parquet(copy.toString)
    val written = Files.list(copy).iterator.asScala.find(_.toString.endsWith(".parquet")).get
    Files.write(classicOf(path, 3), Files.readAllBytes(written))
    Files.deleteIfExists(log(path, s".${classicOf(path, 3).getFileName}.crc"))
    write(log(path, "_last_checkpoint"), """{"version":3,"size":5}""")
    path
  }

  private def domainsIn(file: Path): Long =
    spark.read.parquet(file.toString).where(col("domainMetadata").isNotNull).count()

  test(
    "a classic checkpoint without the domains that the checksum counts is replaced, and not only deleted"
  ) {
    val path = withoutDomains("noDomains")
    val (mode, reason) = checkpoint(path)
    assert(mode == "full" && reason.contains("damaged and is replaced"), reason)
    assert(Files.exists(classicOf(path, 3)))
    assert(domainsIn(classicOf(path, 3)) == 1)
    DeltaLog.clearCache()
    assert(checkpoint(path)._1 == "none")
  }

  test("a classic checkpoint without domains is replaced where no checksum counts them") {
    val path = withoutDomains("noDomainsUncounted")
    (0 to 3).foreach(version => Files.delete(log(path, f"$version%020d.crc")))
    DeltaLog.clearCache()
    assert(checkpoint(path)._1 == "full")
    assert(domainsIn(classicOf(path, 3)) == 1)
    DeltaLog.clearCache()
    assert(checkpoint(path)._1 == "none")
  }

  test("a table whose only checkpoint lacks domains still gets checkpoints") {
    val path = withoutDomains("noDomainsLeft")
    append(path, 4)
    forgetBefore(path, 3)
    DeltaLog.clearCache()
    assert(checkpoint(path)._1 == "full")
    DeltaLog.clearCache()
    assert(Files.exists(classicOf(path, 4)))
    assert(ids(path) == Seq(1, 2, 3, 4))
  }

  test("a checkpoint that was just written stays, whatever the checksum counts") {
    val path = newTable("countsMore", 3, "delta.checkpointInterval" -> "1000")
    checkpoint(path)
    val checksum = log(path, f"${3}%020d.crc")
    val text = Files.readString(checksum)
    assert(text.contains("\"setTransactions\":[]"))
    val txn = """{"appId":"app","version":1,"lastUpdated":1}"""
    write(checksum, text.replace("\"setTransactions\":[]", s""""setTransactions":[$txn]"""))
    assert(checkpoint(path)._1 == "full")
    assert(Files.exists(classicOf(path, 3)))
    forgetBefore(path, 3)
    DeltaLog.clearCache()
    assert(ids(path) == Seq(1, 2, 3))
  }

  private def v2Of(path: String, version: Int): Path = Files.list(log(path, "")).iterator.asScala
    .find(_.getFileName.toString.matches(f"$version%020d\\.checkpoint\\.[^.]+\\.json")).get

  private def appendAs(path: String, app: String): Unit =
    spark.sql("SELECT 1L AS id, 1 AS p").write.format("delta").mode("append")
      .option("txnAppId", app).option("txnVersion", 1).save(path)

  /** As where a table has more applications than a checksum lists, or an older Delta wrote it. */
  private def withoutCountsOfOthers(path: String): Unit =
    Files.list(log(path, "")).iterator.asScala.filter(_.toString.endsWith(".crc")).toSeq
      .filterNot(_.getFileName.toString.startsWith(".")).foreach { checksum =>
        write(
          checksum,
          Files.readString(checksum)
            .replaceAll("\"setTransactions\":\\[[^]]*\\],", "").replaceAll(
              "\"domainMetadata\":\\[[^]]*\\],",
              ""
            )
        )
      }

  /** Checkpoints of versions 2 and 4, and applications before, between and after them. No checksum counts them. */
  private def withApplications(name: String): String = {
    val path = newTable(name, 1, bothPolicies: _*)
    appendAs(path, "first")
    checkpoint(path, "OPTIONS (policy = 'v2')")
    appendAs(path, "second")
    append(path, 2)
    checkpoint(path, "OPTIONS (policy = 'v2')")
    appendAs(path, "third")
    withoutCountsOfOthers(path)
    path
  }

  test("the log before a checkpoint shows that it is whole, where applications came after it") {
    val path = withApplications("laterApplications")
    // It names the newer one of a table that goes on.
    Files.delete(log(path, "_last_checkpoint"))
    assert(deletedCommits(cleanup(path)) == 4)
    for (app <- Seq("first", "second")) withClue(s"without $app: ") {
      val copy = newCopy(path)
      val file = v2Of(copy, 4)
      val kept = Files.readString(file).linesWithSeparators.filterNot(_.contains(s"\"$app\""))
      write(file, kept.mkString)
      val plan = cleanup(copy)
      assert(deletedCommits(plan) == 2)
      assert(plan.message.contains("The checkpoint of version 4 is passed over: it is a JSON file"))
    }
  }

  private def newCopy(path: String): String = {
    val copy = Files.createTempDirectory(root.toPath, "copy")
    Files.walk(new File(path).toPath).iterator.asScala.filter(Files.isRegularFile(_)).foreach { file =>
      val to = copy.resolve(new File(path).toPath.relativize(file))
      Files.createDirectories(to.getParent)
      Files.copy(file, to)
    }
    copy.toString
  }

  test("a v2 checkpoint without the action that makes it one is damaged") {
    for (version <- Seq("same", "later")) {
      val path = newTable(s"noForm-$version", 3, bothPolicies: _*)
      checkpoint(path, "OPTIONS (policy = 'v2')")
      write(v2Of(path, 3), Files.readString(v2Of(path, 3)).linesWithSeparators.drop(1).mkString)
      if (version == "later") newCommit(path)
      val (mode, reason) = checkpoint(path, "OPTIONS (policy = 'v2')")
      assert(mode == "full" && reason.contains("no checkpointMetadata action"), reason)
      DeltaLog.clearCache()
      assert(ids(path) == Seq(1, 2, 3))
    }
  }

  /** A commit that reads nothing. */
  private def newCommit(path: String): Unit = {
    val action = """{"txn":{"appId":"other","version":1,"lastUpdated":1}}"""
    write(log(path, f"${4}%020d.json"), s"$action\n")
  }

  test("_last_checkpoint is about one of two checkpoints of a version") {
    val path = newTable("two", 3, bothPolicies: _*)
    checkpoint(path, "OPTIONS (policy = 'v2')")
    checkpoint(path, "OPTIONS (policy = 'classic')")
    // Its tombstones have expired since the classic one was written.
    write(log(path, "_last_checkpoint"), """{"version":3,"size":500}""")
    assert(checkpoint(path, "OPTIONS (policy = 'v2')")._1 == "none")
  }

  test("of many checkpoints that cannot be shown to be whole, a cleanup looks at the newest only") {
    val path = newTable("manyUnproved", 21, "delta.checkpointInterval" -> "1000")
    val whole = newTable("manyUnprovedWhole", 1)
    checkpoint(whole)
    val content = Files.readAllBytes(classicOf(whole, 1))
    Files.write(classicOf(path, 1), content)
    for (cutOff <- Seq(19, 20)) {
      // What they held does not matter.
      (2 to cutOff + 1).foreach(version => Files.write(classicOf(path, version), content.dropRight(1)))
      assert(deletedCommits(cleanup(path)) == (if (cutOff == 19) 1 else 0))
    }
  }
}
