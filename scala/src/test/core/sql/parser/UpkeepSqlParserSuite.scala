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

  private def on(statement: Statement, parts: String*): LogicalPlan =
    statement.on(UnresolvedTarget.name(_, parts))

  private val optimize = Statement(OptimizeStatement)

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
      assert(parser.parsePlan(s"CHECKPOINT $text") == UpkeepCommand(target, Statement(CheckpointStatement)))
    }
  }

  test("OPTIMIZE and its clauses") {
    val cases = Table(
      ("text", "statement"),
      ("OPTIMIZE t", optimize),
      ("optimize t;", optimize),
      ("OPTIMIZE t FULL", optimize.copy(full = true)),
      ("OPTIMIZE t WHERE p = 'DRY RUN'", optimize.copy(where = Seq("p = 'DRY RUN'"))),
      (
        "OPTIMIZE t WHERE p > 1 AND (q = 'a;b' OR q IS NULL) ZORDER BY (a, b.c) DRY RUN OPTIONS (x = 1)",
        optimize.copy(
          where = Seq("p > 1 AND (q = 'a;b' OR q IS NULL)"),
          zOrderBy = Seq(Seq("a"), Seq("b", "c")),
          dryRun = true,
          options = Seq("x" -> "1")
        )
      ),
      ("OPTIMIZE t ZORDER BY a, b", optimize.copy(zOrderBy = Seq(Seq("a"), Seq("b")))),
      (
        "OPTIMIZE t OPTIONS ('a' = 'b c', d = 128m, e = -1.5, f.g = TRUE)",
        optimize.copy(options = Seq("a" -> "b c", "d" -> "128m", "e" -> "-1.5", "f.g" -> "TRUE"))
      ),
      ("-- first\n/* then */ OPTIMIZE\n  t -- last", optimize)
    )
    forAll(cases)((text, statement) => assert(parser.parsePlan(text) == on(statement, "t")))
  }

  test("the other statements") {
    val cleanup = Statement(CleanupLogStatement)
    val maintain = Statement(MaintainStatement)
    val cases = Table(
      ("text", "plan"),
      ("CHECKPOINT t DRY RUN", on(Statement(CheckpointStatement, dryRun = true), "t")),
      (
        "CLEANUP LOG t RETAIN 168 HOURS DRY RUN",
        on(cleanup.copy(retain = Some("168"), dryRun = true), "t")
      ),
      ("cleanup log t retain -0.5 hours", on(cleanup.copy(retain = Some("-0.5")), "t")),
      ("DESC HEALTH s.t", on(Statement(HealthStatement), "s", "t")),
      ("MAINTAIN t OPTIONS (policy = 'v2')", on(maintain.copy(options = Seq("policy" -> "v2")), "t")),
      ("EXPLAIN OPTIMIZE t", ExplainMaintenanceCommand(on(optimize, "t"), SimpleMode)),
      (
        "EXPLAIN EXTENDED DESCRIBE HEALTH t",
        ExplainMaintenanceCommand(on(Statement(HealthStatement), "t"), ExtendedMode)
      ),
      ("EXPLAIN FORMATTED MAINTAIN t", ExplainMaintenanceCommand(on(maintain, "t"), FormattedMode))
    )
    forAll(cases)((text, plan) => assert(parser.parsePlan(text) == plan))
  }

  test("the text of a plan has the clauses as they were typed, and no two kinds have the same plan") {
    val texts = Seq(
      "OPTIMIZE t FULL WHERE a = 1 ZORDER BY (b, c.d) DRY RUN OPTIONS (x = '1')",
      "CHECKPOINT t DRY RUN OPTIONS (mode = 'full')",
      "CLEANUP LOG t RETAIN 24 HOURS DRY RUN",
      "DESCRIBE HEALTH t",
      "MAINTAIN t DRY RUN"
    )
    val plans = texts.map(parser.parsePlan).collect { case plan: UpkeepCommand => plan }
    val told = plans.map(plan => s"${plan.nodeName} t ${plan.statement.clauses}".trim)
    assert(told == texts)
    assert(plans.map(_.canonicalized).distinct.size == texts.size)
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
