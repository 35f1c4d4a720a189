package io.deltaupkeep.sql.parser

import scala.collection.mutable
import scala.util.{Failure, Random, Success, Try}

import io.deltaupkeep.FuzzSeeds
import io.deltaupkeep.statement._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SingleStatement}
import org.apache.spark.sql.execution.SparkSqlParser

/** Whatever is typed is a plan or a ParseException, and what is no statement of ours is what Spark makes of it. */
class UpkeepSqlParserFuzzSuite extends AnyFunSuite {
  import UpkeepSqlParserFuzzSuite._

  private val texts = FuzzSeeds(5000)

  private val spark = new SparkSqlParser()
  private val parser = new UpkeepSqlParser(spark)

  test("statements of ours and Spark's parse") {
    Ours.foreach(text => assert(isOurs(parser.parsePlan(text)), text))
    Sparks.foreach(text => assert(!isOurs(parser.parsePlan(text)), text))
  }

  test("mutated statements") {
    val counts = mutable.Map.empty[String, Int].withDefaultValue(0)
    texts.foreach { seed =>
      val text = mutate(new Random(seed))
      val clue = s"${FuzzSeeds.clue(seed)}: <$text>"
      val kind = Try(parser.parsePlan(text)) match {
        case Success(plan) if isOurs(plan) =>
          // `DESCRIBE HEALTH t` is all that Spark knows too: as a column of a table.
          assert(text.matches(DescribeHealth) || Try(spark.parsePlan(text)).isFailure, clue)
          "ours"
        case result =>
          val sparks = Try(spark.parsePlan(text))
          (result, sparks) match {
            case (Success(plan), Success(sparks)) => assert(withoutIds(plan) == withoutIds(sparks), clue)
            case (Failure(ours: ParseException), Failure(_: ParseException))
                if text.matches(BeginsLikeOurs) =>
              assert(ours.getCondition != null, clue)
            case (Failure(ours), Failure(sparks)) =>
              assert(ours.getClass == sparks.getClass && ours.getMessage == sparks.getMessage, clue)
            case _ => fail(s"$clue: $result, where Spark says $sparks")
          }
          if (result.isSuccess) "Spark's" else "an error"
      }
      counts(kind) += 1
    }
    info(counts.toSeq.sorted.map { case (kind, count) => s"$kind: $count" }.mkString(", "))
    assert(texts.size < 100 || Seq("ours", "Spark's", "an error").forall(counts(_) > 0))
  }

  private def isOurs(plan: LogicalPlan): Boolean = plan match {
    case _: UpkeepCommand | _: ExplainMaintenanceCommand | _: UnboundStatement => true
    case _ => plan.exists(isOfScript)
  }

  private def isOfScript(plan: LogicalPlan): Boolean = plan match {
    case statement: SingleStatement => ScriptStatements.unapply(statement.parsedPlan).nonEmpty
    case _ => false
  }

  private def withoutIds(plan: LogicalPlan): String = plan.toString.replaceAll("#\\d+|[0-9a-f-]{36}", "#")
}

private object UpkeepSqlParserFuzzSuite {

  private val Ours: IndexedSeq[String] = IndexedSeq(
    "OPTIMIZE t",
    "OPTIMIZE c.s.`a b` FULL",
    "OPTIMIZE t WHERE p > 1 AND (q = 'a;b' OR q IS NULL) ZORDER BY (a, b.c) DRY RUN OPTIONS (x = 1)",
    "OPTIMIZE '/a b/c' WHERE d >= DATE'2026-01-01' OPTIONS ('a' = 'b c', d = 128m, e = -1.5, f.g = TRUE);",
    "CHECKPOINT delta.`/a/b` DRY RUN OPTIONS (policy = 'v2', partSize = 100)",
    "CHECKPOINT \"s3://bucket/t\"",
    "CLEANUP LOG t RETAIN 168 HOURS DRY RUN",
    "-- first\n/* then */ cleanup log s.t retain 0.5 hours OPTIONS (granularity = 'hour')",
    "DESCRIBE HEALTH s.t",
    "DESC HEALTH '/a'",
    "MAINTAIN t DRY RUN",
    "EXPLAIN EXTENDED MAINTAIN t OPTIONS (policy = 'v2')",
    "EXPLAIN OPTIMIZE t WHERE p = 1",
    "OPTIMIZE IDENTIFIER('s.' || 't') WHERE p = :p DRY RUN OPTIONS (maxFiles = ?)",
    "CLEANUP LOG IDENTIFIER(:t) RETAIN :hours HOURS",
    "REORG TABLE t WHERE p = 1 APPLY (PURGE) DRY RUN",
    "VACUUM t RETAIN 24 HOURS OPTIONS (mode = 'full')",
    "VACUUM t USING INVENTORY (SELECT * FROM i WHERE (a = 'b)')) RETAIN 24 HOURS DRY RUN OPTIONS ()",
    "ANALYZE TABLE t COMPUTE DELTA STATISTICS FOR COLUMNS (a, b.c) WHERE p = 1 OPTIONS (mode = 'all')",
    "FSCK REPAIR TABLE t DRY RUN OPTIONS (mode = 'restore', deep = true)",
    "BEGIN OPTIMIZE t; IF 1 = 1 THEN CHECKPOINT t OPTIONS (); END IF; SELECT 1; END"
  )

  private val Sparks: IndexedSeq[String] = IndexedSeq(
    "SELECT /*+ BROADCAST(a) */ a.x, count(*) FROM a JOIN b USING (x) WHERE y LIKE 'o%' GROUP BY ALL",
    "SELECT optimize, maintain FROM checkpoint -- cleanup log",
    "WITH health AS (SELECT 1 AS log) SELECT * FROM health ORDER BY log DESC LIMIT 3",
    "DESCRIBE health",
    "DESCRIBE TABLE EXTENDED health",
    "DESC health.t",
    "DESCRIBE FUNCTION optimize",
    "EXPLAIN FORMATTED SELECT 'OPTIMIZE t'",
    "CREATE TABLE maintain (log INT, `dry run` STRING) USING parquet OPTIONS (x = '1') PARTITIONED BY (log)",
    "INSERT INTO t VALUES (1, 'a\\'b', X'1F', 1e3, INTERVAL '1' DAY)",
    "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointInterval' = '10')",
    "DROP TABLE IF EXISTS s.checkpoint",
    "ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS",
    "SET spark.sql.shuffle.partitions = 2",
    "SHOW TABLES IN s LIKE 'optimize*'",
    "DELETE FROM t WHERE cleanup = \"log\""
  )

  private val All = Ours ++ Sparks

  private val BeginsLikeOurs = "(?is).*(optimize|checkpoint|maintain|cleanup|reorg|vacuum|delta|fsck|desc).*"
  private val DescribeHealth = "(?is).*desc(ribe)?.*health.*"

  private val Words: IndexedSeq[String] =
    All.flatMap(_.split("(?<=\\W)|(?=\\W)")).distinct ++ Seq("$", "{env:HOME}", ":x", "?", "\\", "r'", "$$")

  private val Characters: IndexedSeq[String] =
    IndexedSeq(
      "'",
      "\"",
      "`",
      "/*",
      "*/",
      "--",
      "\n",
      "\r",
      ";",
      "\u0000",
      "\u00a0",
      "\u3000",
      "\ud83d\ude00"
    ) ++
      IndexedSeq(
        "\ud83d",
        "\u00e9",
        "\u0130",
        "\u0660",
        "\\U0011FFFF",
        "\\u12",
        "\\",
        "99999999999999999999",
        "1e"
      )

  /** Between words and what stands between them. */
  private val Boundary = "(?<=\\W)|(?=\\W)"

  private def mutate(random: Random): String =
    (0 to random.nextInt(4)).foldLeft(pick(random, All)) { (text, _) =>
      if (random.nextInt(3) == 0) changeCharacters(random, text) else changeWords(random, text)
    }

  private def changeWords(random: Random, text: String): String = {
    val words = text.split(Boundary).toVector
    val at = random.nextInt(words.size)
    val changed = random.nextInt(6) match {
      case 0 => words.patch(at, Nil, 1)
      case 1 => words.patch(at, Seq(words(at), " ", words(at)), 1)
      case 2 => words.updated(at, pick(random, Words))
      case 3 => words.patch(at, Seq(" ", pick(random, Words), " "), 0)
      case 4 => words.take(at) ++ pick(random, All).split(Boundary).drop(random.nextInt(8))
      case _ => words.updated(at, words(random.nextInt(words.size)))
    }
    changed.mkString
  }

  private def changeCharacters(random: Random, text: String): String = {
    val at = random.nextInt(text.length + 1)
    def over(count: Int, by: String) = text.take(at) + by + text.drop(at + count)
    random.nextInt(5) match {
      case 0 => text.take(at)
      case 1 => over(1, "")
      case 2 => over(random.nextInt(2), pick(random, Characters))
      case 3 => over(random.nextInt(2), (' ' + random.nextInt(95)).toChar.toString)
      case _ => over(3, text.slice(at, at + 3).map(c => if (c.isUpper) c.toLower else c.toUpper))
    }
  }

  private def pick(random: Random, from: IndexedSeq[String]): String = from(random.nextInt(from.size))
}
