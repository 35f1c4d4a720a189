package io.deltaupkeep.sql.parser

import io.deltaupkeep.statement._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.catalyst.analysis.{NamedParameter, PlanWithUnresolvedIdentifier, PosParameter}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SingleStatement}
import org.apache.spark.sql.execution.{ExtendedMode, FormattedMode, SimpleMode, SparkSqlParser}

class UpkeepSqlParserSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val spark = new SparkSqlParser()
  private val parser = new UpkeepSqlParser(spark)

  private def on(statement: Statement, parts: String*): LogicalPlan =
    statement.on(UnresolvedTarget.name(_, parts))

  private val optimize = Statement(OptimizeStatement)

  private def withoutIds(plan: LogicalPlan): String =
    plan.toString.replaceAll("#\\d+|@[0-9a-f]+|[0-9a-f-]{36}", "#")

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
          columns = Seq(Seq("a"), Seq("b", "c")),
          dryRun = true,
          options = Seq("x" -> "1")
        )
      ),
      ("OPTIMIZE t ZORDER BY a, b", optimize.copy(columns = Seq(Seq("a"), Seq("b")))),
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
    val analyze = Statement(AnalyzeStatement)
    val cases = Table(
      ("text", "plan"),
      ("CHECKPOINT t DRY RUN", on(Statement(CheckpointStatement, dryRun = true), "t")),
      (
        "CLEANUP LOG t RETAIN 168 HOURS DRY RUN",
        on(cleanup.copy(retain = Some("168"), dryRun = true), "t")
      ),
      ("cleanup log t retain -0.5 hours", on(cleanup.copy(retain = Some("-0.5")), "t")),
      (
        "REORG TABLE t WHERE p = 1 APPLY (PURGE) DRY RUN",
        on(Statement(ReorgStatement, where = Seq("p = 1"), dryRun = true), "t")
      ),
      ("ANALYZE TABLE t COMPUTE DELTA STATISTICS", on(analyze, "t")),
      (
        "analyze table s.t compute delta statistics for columns (a, b.c) where p = 1 dry run options (mode = 'all')",
        on(
          analyze.copy(
            columns = Seq(Seq("a"), Seq("b", "c")),
            where = Seq("p = 1"),
            dryRun = true,
            options = Seq("mode" -> "all")
          ),
          "s",
          "t"
        )
      ),
      (
        "ANALYZE TABLE t COMPUTE DELTA STATISTICS FOR COLUMNS a, b DRY RUN",
        on(analyze.copy(columns = Seq(Seq("a"), Seq("b")), dryRun = true), "t")
      ),
      (
        "fsck repair table s.t dry run options (deep = true)",
        on(Statement(FsckStatement, dryRun = true, options = Seq("deep" -> "true")), "s", "t")
      ),
      ("CHECKPOINT t OPTIONS ()", on(Statement(CheckpointStatement), "t")),
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

  test("a table may be an expression, as Spark parses it") {
    val cases = Table(
      ("text", "name"),
      ("CHECKPOINT IDENTIFIER('s.t')", "'s.t'"),
      (
        "OPTIMIZE identifier(concat('s', ('.'), upper('t'))) WHERE f(p) IN (1)",
        "concat('s', ('.'), upper('t'))"
      ),
      ("REORG TABLE IDENTIFIER('t') WHERE (a) = 1 APPLY (PURGE) DRY RUN", "'t'")
    )
    forAll(cases) { (text, name) =>
      parser.parsePlan(text) match {
        case UpkeepCommand(target: PlanWithUnresolvedIdentifier, _) =>
          assert(target.identifierExpr == spark.parseExpression(name))
        case other => fail(other.toString)
      }
    }
    assert(parser.parsePlan("OPTIMIZE identifier") == on(optimize, "identifier"))
  }

  test("a statement with parameters waits for their values, which replace nothing but the parameters") {
    val text =
      "OPTIMIZE t -- \ud83d\ude00 :a ?\n WHERE p = :p AND q = ':p?' OR r > 5 -? AND s::int = 1 OPTIONS (o = :o)"
    val unbound = parser.parsePlan(text).asInstanceOf[UnboundStatement]
    assert(unbound.values.map {
      case NamedParameter(name) => name
      case PosParameter(_) => "?"
      case other => other.toString
    } == Seq("p", "?", "o"))
    assert(!unbound.isBound)
    val bound = unbound.copy(values = Seq(Literal("it's ${x} --"), Literal(-1), Literal(7L)))
    assert(bound.isBound)
    assert(
      UpkeepSqlParser.parseBound(spark, bound) == on(
        optimize.copy(
          where = Seq("p = 'it\\'s \\u0024{x} --' AND q = ':p?' OR r > 5 - -1 AND s::int = 1"),
          options = Seq("o" -> "7")
        ),
        "t"
      )
    )
  }

  test("scripts with our statements are Spark's, with our texts inside") {
    val script =
      """BEGIN
        |  OPTIMIZE `t` WHERE p = ';'; SELECT optimize FROM t;
        |  IF 1 = 1 THEN MAINTAIN t; ELSE SELECT 1; END IF;
        |  IF 2 = 2 THEN OPTIMIZE t WHERE CASE WHEN p = 1 THEN q END = 1; END IF;
        |END""".stripMargin
    val plan = parser.parsePlan(script)
    def textsIn(plan: LogicalPlan): Seq[String] =
      ScriptStatements.unapply(plan).toSeq ++ plan.children.flatMap(textsIn) ++ (plan match {
        case statement: SingleStatement => textsIn(statement.parsedPlan)
        case _ => Nil
      })
    assert(textsIn(plan) == Seq(
      "OPTIMIZE `t` WHERE p = ';'",
      "MAINTAIN t",
      "OPTIMIZE t WHERE CASE WHEN p = 1 THEN q END = 1"
    ))
    for (
      (before, statement) <- Seq(
        "BEGIN DECLARE EXIT HANDLER FOR SQLSTATE VALUE '42000', DIVIDE_BY_ZERO" -> "EXPLAIN OPTIMIZE t",
        "BEGIN DECLARE EXIT HANDLER FOR NOT FOUND" -> "MAINTAIN t",
        "BEGIN NOT ATOMIC" -> "CHECKPOINT t"
      )
    ) {
      spark.parsePlan(s"$before USE x; SELECT 1; END")
      parser.parsePlan(s"$before $statement; SELECT 1; END")
    }
    val mistake = "BEGIN OPTIMIZE t; SELEC 1; END"
    val e = intercept[ParseException](parser.parsePlan(mistake))
    assert(e.command.contains(mistake))
    val sparks = intercept[ParseException](spark.parsePlan("BEGIN USE abcdef; SELEC 1; END"))
    assert(e.start.startPosition == sparks.start.startPosition)
    for (
      column <- Seq(
        "BEGIN SELECT CASE WHEN a THEN maintain END; END",
        "BEGIN SELECT CASE WHEN a THEN 1 ELSE optimize END; END",
        "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION INSERT INTO log SELECT * FROM checkpoint c; SELECT 1; END"
      )
    ) assert(withoutIds(parser.parsePlan(column)) == withoutIds(spark.parsePlan(column)))
  }

  test("a session that is switched off parses as without us") {
    val off = new UpkeepSqlParser(spark, () => false)
    intercept[ParseException](off.parsePlan("BEGIN OPTIMIZE t; END"))
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
    forAll(cases)(text => assert(withoutIds(parser.parsePlan(text)) == withoutIds(spark.parsePlan(text))))
  }

  test("a mistake in a statement of ours is shown at its place") {
    val cases = Table(
      ("text", "position"),
      ("OPTIMIZE", 8),
      ("OPTIMIZE t BOGUS", 11),
      ("CHECKPOINT t OPTIONS (,)", 22),
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
