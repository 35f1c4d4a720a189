package io.deltaupkeep

import java.nio.file.{Files, Path}

import io.deltaupkeep.checkpoint.CheckpointRequest
import io.deltaupkeep.cleanup.CleanupSettings
import io.deltaupkeep.optimize.OptimizeSettings

import org.apache.spark.sql.internal.SQLConf

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** The README has what the code says of it. */
class ReadmeSuite extends AnyFunSuite {

  private val readme = Files.readString(Path.of("../README.md"))

  private val statements = Seq(
    "OPTIMIZE" -> OptimizeSettings.entries,
    "CHECKPOINT" -> CheckpointRequest.entries,
    "CLEANUP LOG" -> CleanupSettings.entries
  )

  private def assertHas(rows: Seq[String]): Assertion =
    assert(
      readme.contains(rows.mkString("|---|\n", "\n", "\n\n")),
      rows.mkString("\nThe rows:\n", "\n", "\n")
    )

  test("the README has a row for each option, as it is declared") {
    val rows = for {
      (statement, entries) <- statements
      entry <- entries
    } yield s"| $statement | `${entry.name}` | ${entry.doc} Takes ${entry.expected}. |"
    assertHas(rows)
  }

  test("the README has a row for each setting, as it is declared") {
    val ours = UpkeepConf.OptimizeEngine.key.stripSuffix("optimize.engine")
    val settings = new SQLConf().getAllDefinedConfs.filter(_._1.startsWith(ours)).sorted
    assertHas(settings.map { case (key, default, doc, _) => s"| `$key` | $doc Default: $default. |" })
  }
}
