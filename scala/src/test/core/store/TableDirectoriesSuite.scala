package io.deltaupkeep.store

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

class TableDirectoriesSuite extends AnyFunSuite {

  private val root = Files.createTempDirectory("lake")
  Seq(
    "a/x/_delta_log",
    "a/y",
    "b/x/_delta_log",
    "b/2026-01-01T00:00/_delta_log",
    "c:d/x/_delta_log",
    "e*/_delta_log"
  )
    .foreach(name => Files.createDirectories(root.resolve(name)))
  Files.createFile(root.resolve("a/file"))

  private def found(glob: String): Map[String, Boolean] =
    TableDirectories.matching(s"$root/$glob", new Configuration).toMap.map { case (path, hasLog) =>
      path.stripPrefix(s"file:$root/") -> hasLog
    }

  test("the directories that match, with and without a log") {
    assert(found("a/*") == Map("a/x" -> true, "a/y" -> false))
    assert(found("{a,b}/x") == Map("a/x" -> true, "b/x" -> true))
    assert(found("{a/y,b/x}") == Map("a/y" -> false, "b/x" -> true))
    assert(found("[ab]/?") == Map("a/x" -> true, "a/y" -> false, "b/x" -> true))
    assert(found("a/x/") == Map("a/x" -> true))
    assert(found("e\\*") == Map("e*" -> true))
    assert(found("*/*/_delta_log").keySet.size == 4)
  }

  test("a colon in a name hides nothing") {
    assert(found("*/x").keySet == Set("a/x", "b/x", "c:d/x"))
    assert(found("b/*") == Map("b/x" -> true, "b/2026-01-01T00:00" -> true))
    assert(found("c:d/*") == Map("c:d/x" -> true))
    assert(found("b/2026-01-01T00:00") == Map("b/2026-01-01T00:00" -> true))
  }

  test("nothing is there") {
    for (glob <- Seq("a/z", "z/*", "a/file", "a/file/*", "*/z")) assert(found(glob).isEmpty, glob)
  }
}
