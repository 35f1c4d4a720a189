package org.apache.spark.sql.delta.upkeep.commit

import java.io.{EOFException, File, IOException}
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.store.DeniedFileSystem
import io.deltaupkeep.plan.checkpoint.{CheckpointRequest, Mode}

import org.apache.hadoop.fs.{FileStatus, Path => HadoopPath}
import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.{DeltaLog, LastCheckpointInfo}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.checkpoint.{CheckpointedLogs, TableCheckpoint}
import org.apache.spark.sql.delta.upkeep.read.{CheckpointPointer, ListedLog}
import org.apache.spark.sql.delta.upkeep.table.{
  DamagedAction,
  DeltaHandle,
  DeltaTarget,
  InputFailures,
  Intent
}

/** What a store does not give for a while is neither damaged nor missing. */
class StoreFaultSuite extends AnyFunSuite with CheckpointedLogs {
  import TestSession._

  spark.sparkContext.conf.set("spark.delta.logStore.denied.impl", "io.delta.storage.LocalLogStore")

  private def onDenied[T](path: String)(use: DeltaHandle => T): T =
    withConf("fs.denied.impl" -> classOf[DeniedFileSystem].getName) {
      DeltaLog.clearCache()
      val target = DeltaTarget.byPath(spark, "TEST", s"denied://$path", Map.empty)
      use(DeltaHandle.open(spark, "TEST", target, Intent.Checkpoint))
    }

  private def checkpointFiles(path: String): Map[Path, Seq[Byte]] =
    Files.walk(new File(path, "_delta_log").toPath).iterator.asScala
      .filter(file => file.toString.contains(".checkpoint") || file.toString.contains("_sidecars/"))
      .filter(Files.isRegularFile(_))
      .map(file => file -> Files.readAllBytes(file).toSeq).toMap

  private def assertDenied(run: => Any): Unit = {
    val causes = Iterator.iterate[Throwable](intercept[Exception](run))(_.getCause).takeWhile(_ != null)
    assert(causes.exists(_.isInstanceOf[AccessControlException]))
    ()
  }

  private val isOfCheckpoint: String => Boolean =
    name => name.contains(".checkpoint.") && !name.startsWith(".")

  for (policy <- Seq("classic", "v2"))
    test(s"a $policy checkpoint that the store does not give stays") {
      val path = newTable(s"denied-$policy", 3, bothPolicies: _*)
      val request = CheckpointRequest(None, None, None, Mode.Auto)
      onDenied(path) { table =>
        val early = TableCheckpoint(table, request)
        assert(!early.plan.isEmpty)
        checkpoint(path, s"OPTIONS (policy = '$policy')")
        val before = checkpointFiles(path)
        DeniedFileSystem.denying(isOfCheckpoint) {
          assertDenied(TableCheckpoint(table, request).plan)
          if (policy == "classic") assertDenied(early.write())
        }
        assert(checkpointFiles(path) == before)
      }
      assert(checkpoint(path, s"OPTIONS (policy = '$policy')")._1 == "none")
    }

  test("a damaged checkpoint stays until the one that replaces it is there") {
    val path = newTable("replacedLater", 3, bothPolicies: _*)
    checkpoint(path, "OPTIONS (policy = 'v2')")
    val topLevel = checkpointFiles(path).keys.find(_.toString.endsWith(".json")).get
    Files.writeString(topLevel, Files.readString(topLevel).linesWithSeparators.next())
    Files.deleteIfExists(topLevel.resolveSibling(s".${topLevel.getFileName}.crc"))
    onDenied(path) { table =>
      val replacing = TableCheckpoint(table, CheckpointRequest(None, None, None, Mode.Auto))
      assert(replacing.plan.damaged.nonEmpty)
      // The commits are read to build the new one.
      DeniedFileSystem.denying(_.endsWith(".json"))(intercept[Exception](replacing.write()))
      assert(Files.exists(topLevel))
      replacing.write()
      assert(!Files.exists(topLevel))
    }
    assert(ids(path) == Seq(1, 2, 3))
  }

  test("_last_checkpoint does not go back where it cannot be read") {
    val path = newTable("deniedPointer", 3, bothPolicies: _*)
    checkpoint(path)
    val pointer = new File(path, "_delta_log/_last_checkpoint").toPath
    val before = Files.readString(pointer)
    val older = LastCheckpointInfo(1, 1, None, None, None, None, None, None)
    onDenied(path) { table =>
      DeniedFileSystem.denying(_ == "_last_checkpoint")(new CheckpointPointer(table).write(older))
      assert(Files.readString(pointer) == before)
      new CheckpointPointer(table).write(older.copy(version = 9))
      assert(Files.readString(pointer).contains("\"version\":9"))
    }
  }

  test("a log compaction that ends after the wanted version is not the end of a listing") {
    val log = Files.createTempDirectory(root.toPath, "compacted")
    val names = Seq(2, 3, 4, 5).map(version => f"$version%020d.json") ++
      Seq((2, 5), (2, 3), (3, 4)).map { case (from, to) => f"$from%020d.$to%020d.compacted.json" }
    names.foreach(name => Files.createFile(log.resolve(name)))
    val store = DeltaLog.forTable(spark, newTable("compactions", 1)).store
    val conf = spark.sparkContext.hadoopConfiguration
    def found(first: Long, last: Long): Seq[String] =
      ListedLog.between(store, new HadoopPath(log.toString), conf, first, last)
        .map((file: FileStatus) => file.getPath.getName).toSeq.sorted
    assert(found(2, 3) == Seq(names.head, names(5), names(1)).sorted)
    assert(found(3, 4) == Seq(names(1), names(6), names(2)).sorted)
  }

  test("the end of a connection is not the end of a file") {
    def endIn(reader: String): EOFException = {
      val end = new EOFException()
      end.setStackTrace(Array("java.io.DataInputStream", reader).map(new StackTraceElement(_, "read", "", 1)))
      end
    }
    def damage(reader: String) = InputFailures.damageOfLog(new IOException(endIn(reader)))
    assert(damage("org.apache.parquet.hadoop.util.H1SeekableInputStream").contains("it ends too early"))
    assert(damage("org.apache.hadoop.ipc.Client$IpcStreams").isEmpty)
  }

  test("a lacking value is damage where Delta reads the log, and a fault of ours elsewhere") {
    val lacking = new NullPointerException("value")
    assert(InputFailures.damageOfLog(lacking).isEmpty)
    val inDelta = intercept[DamagedAction](DamagedAction.inDelta(throw lacking))
    assert(InputFailures.damageOfLog(inDelta).exists(_.contains("value")))
  }
}
