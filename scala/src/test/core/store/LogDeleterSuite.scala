package io.deltaupkeep.store

import java.io.IOException
import java.net.URI
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.log.{LogDirectory, LogFile, LogListing}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

class LogDeleterSuite extends AnyFunSuite {

  /** Remembers the order of deletions, and fails for some names for a number of times. */
  private class FailingFileSystem(failures: Map[String, Int]) extends LatencyFileSystem {
    initialize(URI.create("latency:///"), new Configuration(false))
    val deleted = new ConcurrentLinkedQueue[String]
    private val left = new ConcurrentHashMap[String, Int](failures.asJava)

    override def delete(path: Path, recursive: Boolean): Boolean = {
      val name = path.getName
      if (left.merge(name, -1, Integer.sum(_, _)) >= 0) throw new IOException("slow down")
      val done = super.delete(path, recursive)
      if (done) deleted.add(name)
      done
    }
  }

  private def withLog(names: Seq[String])(body: (LocalPath, IndexedSeq[LogFile]) => Unit): Unit = {
    val log = Files.createTempDirectory("log")
    try {
      val files = names.map { name =>
        Files.writeString(log.resolve(name), "x" * 3)
        LogFile(LogDirectory.Root, name, 3, 0)
      }
      body(log, files.toIndexedSeq)
    } finally {
      Files.walk(log).iterator.asScala.toSeq.reverse.foreach(Files.delete)
    }
  }

  private def commits(count: Int): Seq[String] = (0 until count).map(version => f"$version%020d.json")

  private def left(log: LocalPath): Set[String] = log.toFile.list().toSet

  private def deleter(fileSystem: LatencyFileSystem, log: LocalPath, threads: Int = 4): LogDeleter =
    new LogDeleter(fileSystem, new Path(s"latency://$log"), "t", threads)

  test("a store that deletes many files in a call gets few calls") {
    withLog(commits(2500)) { (log, files) =>
      LatencyFileSystem.reset()
      val done = deleter(LatencyFileSystem.open("bulk.page" -> 1000), log).delete(Seq(files))
      assert(done == Deletions(2500, 7500))
      assert(left(log).isEmpty)
      assert((LatencyFileSystem.calls("bulk delete"), LatencyFileSystem.calls("delete")) == ((3, 0)))
    }
  }

  test("another store gets a call for each file, and no others") {
    withLog(commits(300)) { (log, files) =>
      LatencyFileSystem.reset()
      val done = deleter(LatencyFileSystem.open(), log).delete(Seq(files))
      assert(done == Deletions(300, 900))
      assert(LatencyFileSystem.summary == "delete=300")
    }
  }

  test("a phase ends before the next begins") {
    withLog(commits(400)) { (log, files) =>
      val fileSystem = new FailingFileSystem(Map("00000000000000000007.json" -> 2))
      val (first, second) = files.splitAt(200)
      deleter(fileSystem, log).delete(Seq(first, second))
      val order = fileSystem.deleted.asScala.toSeq
      assert(order.take(200).toSet == first.map(_.name).toSet)
      assert(order.drop(200).toSet == second.map(_.name).toSet)
    }
  }

  test("within a phase the oldest go first, but for what threads do side by side") {
    withLog(commits(600)) { (log, files) =>
      val fileSystem = new FailingFileSystem(Map.empty)
      deleter(fileSystem, log, threads = 2).delete(Seq(files))
      fileSystem.deleted.asScala.zipWithIndex.foreach { case (name, i) =>
        assert(math.abs(name.take(20).toInt - i) < 16, s"$name was number $i")
      }
    }
  }

  test("a file that is gone already is no failure, and not counted") {
    withLog(commits(10)) { (log, files) =>
      Files.delete(log.resolve(files(3).name))
      assert(deleter(LatencyFileSystem.open(), log).delete(Seq(files)) == Deletions(9, 27))
    }
  }

  test("a failure that passes is tried again") {
    withLog(commits(10)) { (log, files) =>
      val fileSystem = new FailingFileSystem(Map(files(2).name -> 1, files(5).name -> 3))
      assert(deleter(fileSystem, log).delete(Seq(files)) == Deletions(10, 30))
      assert(left(log).isEmpty)
    }
  }

  test("a failure that lasts stops the cleanup, with the file's name, before the next phase") {
    withLog(commits(20)) { (log, files) =>
      val fileSystem = new FailingFileSystem(Map(files(2).name -> Int.MaxValue))
      val (first, second) = files.splitAt(10)
      val e = intercept[UpkeepException](deleter(fileSystem, log).delete(Seq(first, second)))
      assert(e.getCondition == "DELTA_UPKEEP.LOG_FILE_NOT_DELETED")
      assert(e.getMessage.contains(files(2).name) && e.getMessage.contains("slow down"))
      assert(left(log) == second.map(_.name).toSet + files(2).name)
      assert(e.getMessage.contains("9 files had been deleted"))
    }
  }

  test("a log is listed in as many calls as it has pages") {
    withLog(commits(2500) ++ commits(100).map(_.replace(".json", ".crc"))) { (log, _) =>
      LatencyFileSystem.reset()
      val listed = LogListing.of(LatencyFileSystem.open("list.page" -> 1000), new Path(s"latency://$log"))
      assert(listed.size == 2600)
      assert(LatencyFileSystem.summary == "list=3")
    }
  }

  test("the directories of a log are listed if they are there") {
    withLog(commits(3)) { (log, _) =>
      for (name <- Seq("_sidecars", "_staged_commits", "_commits"))
        Files.createFile(Files.createDirectories(log.resolve(name)).resolve("00000000000000000002.a.json"))
      LatencyFileSystem.reset()
      val listed = LogListing.of(LatencyFileSystem.open(), new Path(s"latency://$log"))
      val below = listed.map(_.path).filter(_.contains("/"))
      assert(below.toSet == Set("_sidecars", "_staged_commits").map(_ + "/00000000000000000002.a.json"))
      assert(LatencyFileSystem.summary == "list=3")
    }
  }
}
