package io.deltaupkeep

import java.nio.file.{Files, Path}

import scala.util.matching.Regex

import io.deltaupkeep.maintain.{Maintenance, VacuumStep}
import io.deltaupkeep.plan.analyze.AnalyzeSettings
import io.deltaupkeep.plan.checkpoint.CheckpointRequest
import io.deltaupkeep.plan.cleanup.CleanupSettings
import io.deltaupkeep.plan.compact.OptimizeSettings
import io.deltaupkeep.plan.repair.FsckSettings
import io.deltaupkeep.plan.vacuum.VacuumSettings

import org.apache.spark.sql.internal.SQLConf

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** The guide has what the code says of options and settings. */
class GuideSuite extends AnyFunSuite {

  private val statements = Seq(
    "OPTIMIZE" -> OptimizeSettings.entries,
    "CHECKPOINT" -> CheckpointRequest.entries,
    "CLEANUP LOG" -> CleanupSettings.entries,
    "VACUUM" -> VacuumSettings.entries,
    "ANALYZE" -> AnalyzeSettings.entries,
    "FSCK" -> FsckSettings.entries,
    "MAINTAIN" -> (VacuumStep.entries :+ Maintenance.StepsOption)
  )

  /** What stands below a heading of a page, up to the next one. */
  private def section(page: String, heading: String): String =
    ("\n" + Files.readString(Path.of(s"../python/docs/$page.md"))).split(s"\n#+ ${Regex.quote(heading)}\n")(1)
      .split("\n#")(0) + "\n"

  private def assertHas(page: String, heading: String, rows: Seq[String]): Assertion =
    assert(
      section(page, heading).contains(rows.mkString("|---|\n", "\n", "\n\n")),
      rows.mkString("\nThe rows:\n", "\n", "\n")
    )

  for ((statement, entries) <- statements)
    test(s"the page of statements has a row for each option of $statement, as it is declared") {
      val rows = entries.map(entry => s"| `${entry.name}` | ${entry.doc} Takes ${entry.expected}. |")
      assertHas("statements", statement, rows)
    }

  test("the page of settings has a row for each setting, as it is declared") {
    val ours = UpkeepConf.OptimizeEngine.key.stripSuffix("optimize.engine")
    val settings = new SQLConf().getAllDefinedConfs.filter(_._1.startsWith(ours)).sorted
    assertHas(
      "settings",
      "Settings",
      settings.map { case (key, default, doc, _) => s"| `$key` | $doc Default: $default. |" }
    )
  }
}
