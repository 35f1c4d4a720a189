package io.deltaupkeep.health

import io.deltaupkeep.Tables
import io.deltaupkeep.checkpoint.HookOutcome
import io.deltaupkeep.cleanup.{
  CleanupInput,
  CleanupPlan,
  CleanupPlanner,
  CommitTimes,
  Cutoff,
  LogDirectory,
  LogFile
}
import io.deltaupkeep.optimize.{DataFile, OptimizePlanner, OptimizeSettings}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class HealthCheckSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val day = 24L * 3600 * 1000
  private val now = 100 * day

  private def files(count: Int, size: Long, deleted: Long = 0): Seq[DataFile] =
    (1 to count).map { i =>
      DataFile(s"f$i", Option.when(deleted > 0)("dv"), size, 0, "", Some(100), deleted, None)
    }

  private def log(versions: Int, age: Long): CleanupPlan = {
    val commits = (0 until versions).map(v => LogFile(LogDirectory.Root, f"$v%020d.json", 10, now - age))
    val cutoff = now - 30 * day
    CleanupPlanner.plan(CleanupInput(
      commits,
      now,
      cutoff,
      Cutoff.commit(CommitTimes.of(commits.iterator), cutoff, None),
      Map.empty,
      None
    ))
  }

  private def checks(
      data: Seq[DataFile] = Nil,
      version: Long = 5,
      checkpoint: Option[Long] = Some(5),
      age: Long = day,
      catalogManaged: Boolean = false,
      hook: Option[HookOutcome] = None
  ): Map[String, HealthResult] = {
    val settings = OptimizeSettings(1000, 1000, 0.05)
    val table = Tables.facts(version).copy(catalogManaged = catalogManaged)
    val facts = HealthFacts(
      table,
      OptimizePlanner.compact(data, settings),
      log((version + 1).toInt, age),
      checkpoint.map(NewestCheckpoint(_, "classic")),
      hook
    )
    HealthCheck.of(facts).map(result => result.check -> result).toMap
  }

  test("a table in good order has no findings") {
    val results = checks(files(3, 5000))
    assert(results.values.forall(_.severity == "ok"))
    assert(results.values.forall(_.remedy.isEmpty))
    assert(results("files").value.contains(3d))
    assert(results("oldestVersion").value.contains(0d))
  }

  test("severity and remedy follow the numbers") {
    val cases = Table(
      ("results", "check", "severity", "remedy"),
      (checks(files(2, 10)), "smallFiles", "warning", Some("OPTIMIZE t")),
      (checks(files(40, 5000) ++ files(2, 10)), "smallFiles", "info", Some("OPTIMIZE t")),
      (checks(files(3000, 1)), "smallFiles", "critical", Some("OPTIMIZE t")),
      (checks(files(2, 5000, deleted = 50)), "deletedRows", "warning", Some("OPTIMIZE t")),
      (checks(files(2, 5000, deleted = 2)), "deletedRows", "info", Some("OPTIMIZE t")),
      (checks(checkpoint = None), "checkpoint", "info", None),
      (checks(version = 25), "commitsSinceCheckpoint", "warning", Some("CHECKPOINT t")),
      (checks(version = 200), "commitsSinceCheckpoint", "critical", Some("CHECKPOINT t")),
      (checks(age = 40 * day), "expiredLog", "info", Some("MAINTAIN t")),
      (checks(files(2, 10), catalogManaged = true), "smallFiles", "warning", None)
    )
    forAll(cases) { (results, check, severity, remedy) =>
      assert(results(check).severity == severity)
      assert(results(check).remedy == remedy)
    }
  }
}
