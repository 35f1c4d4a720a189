package io.deltaupkeep

import java.nio.file.{Files, Path}

import io.deltaupkeep.checkpoint.CheckpointRequest
import io.deltaupkeep.cleanup.CleanupSettings
import io.deltaupkeep.optimize.OptimizeSettings

import org.scalatest.funsuite.AnyFunSuite

/** The README's table of options is that of the declarations. */
class ReadmeSuite extends AnyFunSuite {

  private val statements = Seq(
    "OPTIMIZE" -> OptimizeSettings.entries,
    "CHECKPOINT" -> CheckpointRequest.entries,
    "CLEANUP LOG" -> CleanupSettings.entries
  )

  test("the README has a row for each option, as it is declared") {
    val rows = for {
      (statement, entries) <- statements
      entry <- entries
    } yield s"| $statement | `${entry.name}` | ${entry.doc} Takes ${entry.expected}. |"
    val readme = Files.readString(Path.of("../README.md"))
    assert(readme.contains(rows.mkString("\n")), rows.mkString("\nThe table should be:\n", "\n", "\n"))
  }
}
