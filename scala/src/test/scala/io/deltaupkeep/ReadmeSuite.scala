package io.deltaupkeep

import java.nio.file.{Files, Path}

import io.deltaupkeep.checkpoint.CheckpointRequest
import io.deltaupkeep.cleanup.CleanupSettings
import io.deltaupkeep.optimize.OptimizeSettings

import org.scalatest.funsuite.AnyFunSuite

/** The README has what the code says of it. */
class ReadmeSuite extends AnyFunSuite {

  private val readme = Files.readString(Path.of("../README.md"))

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
    assert(readme.contains(rows.mkString("\n")), rows.mkString("\nThe table should be:\n", "\n", "\n"))
  }

  test("the README has the sections that errors name") {
    Section.all.foreach(section => assert(readme.contains(s"\n## ${section.title}\n")))
    val error = UpkeepErrors.formatNeedsV2("t", "json")
    assert(error.getMessage.contains("use policy = 'v2'. See README.md#which-checkpoint."))
  }
}
