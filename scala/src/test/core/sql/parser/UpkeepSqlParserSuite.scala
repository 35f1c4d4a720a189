package io.deltaupkeep.sql.parser

import io.deltaupkeep.statement._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{ExtendedMode, FormattedMode, SimpleMode, SparkSqlParser}

class UpkeepSqlParserSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val spark = new SparkSqlParser()
  private val parser = new UpkeepSqlParser(spark)

  private def named(statement: String, parts: String*): LogicalPlan = UnresolvedTarget.name(statement, parts)

  private def optimize(target: LogicalPlan, clauses: OptimizeClauses = plain): LogicalPlan =
    OptimizeCommand(target, clauses)

  private val plain = OptimizeClauses(full = false, Nil, Nil, dryRun = false, Nil)

  test("tables are names of one to three parts, or paths") {
    val cases = Table(
      ("text", "target"),
      ("t", UnresolvedTarget.name("CHECKPOINT", Seq("t"))),
      ("s.t", UnresolvedTarget.name("CHECKPOINT", Seq("s", "t"))),
      ("c.s.t", UnresolvedTarget.name("CHECKPOINT", Seq("c", "s", "t"))),
      ("`a b`.`c``d`", UnresolvedTarget.name("CHECKPOINT", Seq("a b", "c`d"))),
      ("delta.`/a/b`", UnresolvedTarget.name("CHECKPOINT", Seq("delta", "/a/b"))),
      ("log", UnresolvedTarget.name("CHECKPOINT", Seq("log"))),
      ("'/a b/c'", UnresolvedTarget.path("CHECKPOINT", "/a b/c")),
      ("\"s3://bucket/t\"", UnresolvedTarget.path("CHECKPOINT", "s3://bucket/t"))
    )
    forAll(cases) { (text, target) =>
      assert(parser.parsePlan(s"CHECKPOINT $text") == CheckpointCommand(target, dryRun = false, Nil))
    }
  }

  test("OPTIMIZE and its clauses") {
    val t = named("OPTIMIZE", "t")
    val cases = Table(
      ("text", "plan"),
      ("OPTIMIZE t", optimize(t)),
      ("optimize t;", optimize(t)),
      ("OPTIMIZE t FULL", optimize(t, plain.copy(full = true))),
      ("OPTIMIZE t WHERE p = 'DRY RUN'", optimize(t, plain.copy(where = Seq("p = 'DRY RUN'")))),
      (
        "OPTIMIZE t WHERE p > 1 AND (q = 'a;b' OR q IS NULL) ZORDER BY (a, b.c) DRY RUN OPTIONS (x = 1)",
        optimize(
          t,
          OptimizeClauses(
            full = false,
            Seq("p > 1 AND (q = 'a;b' OR q IS NULL)"),
            Seq(Seq("a"), Seq("b", "c")),
            dryRun = true,
            Seq("x" -> "1")
          )
        )
      ),
      ("OPTIMIZE t ZORDER BY a, b", optimize(t, plain.copy(zOrderBy = Seq(Seq("a"), Seq("b"))))),
      (
        "OPTIMIZE t OPTIONS ('a' = 'b c', d = 128m, e = -1.5, f.g = TRUE)",
        optimize(t, plain.copy(options = Seq("a" -> "b c", "d" -> "128m", "e" -> "-1.5", "f.g" -> "TRUE")))
      ),
      ("-- first\n/* then */ OPTIMIZE\n  t -- last", optimize(t))
    )
    forAll(cases)((text, plan) => assert(parser.parsePlan(text) == plan))
  }

  test("the other statements") {
    val cases = Table(
      ("text", "plan"),
      ("CHECKPOINT t DRY RUN", CheckpointCommand(named("CHECKPOINT", "t"), dryRun = true, Nil)),
      (
        "CLEANUP LOG t RETAIN 168 HOURS DRY RUN",
        CleanupLogCommand(named("CLEANUP LOG", "t"), Some("168"), dryRun = true, Nil)
      ),
      (
        "cleanup log t retain -0.5 hours",
        CleanupLogCommand(named("CLEANUP LOG", "t"), Some("-0.5"), dryRun = false, Nil)
      ),
      ("DESC HEALTH s.t", DescribeHealthCommand(named("DESCRIBE HEALTH", "s", "t"))),
      (
        "MAINTAIN t OPTIONS (policy = 'v2')",
        MaintainCommand(named("MAINTAIN", "t"), dryRun = false, Seq("policy" -> "v2"))
      ),
      ("EXPLAIN OPTIMIZE t", ExplainMaintenanceCommand(optimize(named("OPTIMIZE", "t")), SimpleMode)),
      (
        "EXPLAIN EXTENDED DESCRIBE HEALTH t",
        ExplainMaintenanceCommand(DescribeHealthCommand(named("DESCRIBE HEALTH", "t")), ExtendedMode)
      ),
      (
        "EXPLAIN FORMATTED MAINTAIN t",
        ExplainMaintenanceCommand(MaintainCommand(named("MAINTAIN", "t"), dryRun = false, Nil), FormattedMode)
      )
    )
    forAll(cases)((text, plan) => assert(parser.parsePlan(text) == plan))
  }

  test("every other text reaches the delegate untouched") {
    val cases = Table(
      "text",
      "SELECT /*+ BROADCAST(a) */ a.x -- of a\nFROM a\nJOIN b USING (x)",
      "DESCRIBE health",
      "DESCRIBE health.t",
      "DESCRIBE TABLE EXTENDED health",
      "EXPLAIN SELECT 1",
      "EXPLAIN EXTENDED SELECT 'OPTIMIZE t'",
      "SELECT optimize, maintain FROM checkpoint",
      "CREATE TABLE maintain (log INT) USING parquet"
    )
    def withoutIds(plan: LogicalPlan): String = plan.toString.replaceAll("#\\d+", "#")
    forAll(cases)(text => assert(withoutIds(parser.parsePlan(text)) == withoutIds(spark.parsePlan(text))))
  }

  test("a mistake in a statement of ours is shown at its place") {
    val cases = Table(
      ("text", "position"),
      ("OPTIMIZE", 8),
      ("OPTIMIZE t BOGUS", 11),
      ("CHECKPOINT t OPTIONS ()", 22),
      ("CLEANUP LOG t RETAIN HOURS", 21),
      ("CLEANUP LOG t RETAIN 5 DAYS", 23),
      ("MAINTAIN t DRY", 14)
    )
    forAll(cases) { (text, position) =>
      val e = intercept[ParseException](parser.parsePlan(text))
      assert(e.getCondition == "PARSE_SYNTAX_ERROR")
      assert(e.start.startPosition.contains(position))
    }
  }
}
