package org.apache.spark.sql.delta.upkeep.checkpoint

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, StandardOpenOption}

import scala.util.Random

import io.deltaupkeep.{UpkeepConf, UpkeepException}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.upkeep.{RandomHistory, TestSession}
import org.apache.spark.sql.delta.upkeep.read.CheckpointFooter
import org.apache.spark.sql.delta.upkeep.state.CommitSplit

/** The driver and a Spark job find the same state in the same log. */
class DriverReplaySuite extends AnyFunSuite with CheckpointedLogs {
  import TestSession._

  private lazy val history = new RandomHistory(seed = 4, bothPolicies)

  private def withDriverBytes(bytes: Long)(body: => Unit): Unit = {
    spark.conf.set(UpkeepConf.DriverBytes.key, bytes)
    try body
    finally spark.conf.unset(UpkeepConf.DriverBytes.key)
  }

  for (policy <- Seq("classic", "v2")) {
    val options = s"OPTIONS (policy = '$policy')"

    test(s"the driver replays every version, $policy") {
      history.stages.foreach { version =>
        val (mode, reason) = checkpointsAt(history.path, Seq(version), options).head
        assert(mode == "full" && reason.endsWith("replayed on the driver"), reason)
      }
    }

    test(s"a job replays commits that are more than the driver may, $policy") {
      withDriverBytes(250) {
        val (mode, reason) = checkpointsAt(history.path, history.stages.takeRight(1), options).head
        assert(
          mode == "full" && reason.matches(".*by a Spark job: the commits take .*, more than 1000 B"),
          reason
        )
      }
    }

    test(s"a job reads the last checkpoint, $policy") {
      val path = newTable(s"jobReads-$policy", 5, bothPolicies: _*)
      checkpoint(path, options)
      append(path, 100)
      val full = s"OPTIONS (policy = '$policy', mode = 'full')"
      val (mode, reason) = checkpoint(path, full)
      assert(mode == "full" && reason.endsWith("by a Spark job: it reads the last checkpoint"), reason)
      assertHoldsTheTable(path)
    }
  }

  test("sidecars have no more actions than partSize, and what threads are left with is put together") {
    val path = newTable("partSize", 12, bothPolicies: _*)
    checkpoint(path, "OPTIONS (policy = 'v2', partSize = 5)")
    val conf = new Configuration()
    val directory = new Path(path, "_delta_log/_sidecars")
    val sizes = directory.getFileSystem(conf).listStatus(directory).toSeq
      .map(CheckpointFooter.read(_, conf)(_.rows))
    assert(sizes.sum == 12 && sizes.size <= 4 && sizes.max <= 5)
    assertHoldsTheTable(path)
  }

  test("a line that is no action stops the checkpoint, and names the commit") {
    val damaged = Seq(
      "{\"add\":{\"path\":\"x\"",
      "[1]",
      "not json",
      "{\"add\":{\"size\":{}}}",
      "{\"add\":{\"size\":1}}",
      "{\"txn\":{\"appId\":\"a\"}}",
      "{\"txn\":{\"version\":1}}",
      "{\"domainMetadata\":{\"configuration\":\"{}\",\"removed\":false}}"
    )
    for (line <- damaged) {
      val path = newTable(s"damagedLine-${line.hashCode}", 2, bothPolicies: _*)
      val commit = new File(path, "_delta_log/00000000000000000001.json").toPath
      Files.write(commit, line.getBytes(UTF_8), StandardOpenOption.APPEND)
      Files.deleteIfExists(commit.resolveSibling(s".${commit.getFileName}.crc"))
      val e = intercept[UpkeepException](checkpoint(path))
      assert(
        e.getCondition == "DELTA_UPKEEP.LOG_DAMAGED" && e.getMessage.contains(commit.getFileName.toString) &&
          e.getMessage.contains("one of its actions cannot be read")
      )
      assert(!new File(path, "_delta_log").list().exists(_.contains("checkpoint")))
    }
  }

  test("pieces of a commit have each of its lines once") {
    val random = new Random(1)
    val file = Files.createTempFile("commit", ".json")
    val conf = new Configuration()
    for (_ <- 1 to 200) {
      val lines = Seq.fill(random.nextInt(8))("x" * (1 + random.nextInt(20)))
      val end = if (random.nextBoolean()) "\n" else ""
      Files.writeString(file, lines.mkString("\n") + end)
      val status = new Path(file.toUri).getFileSystem(conf).getFileStatus(new Path(file.toUri))
      val pieces = CommitSplit.of(status, bytes = 1L + random.nextInt(30))
      val found =
        pieces.map(piece => new String(piece.lines(conf), UTF_8)).flatMap(_.split("\n")).filter(_.nonEmpty)
      assert(found == lines)
    }
    Files.delete(file)
  }
}
