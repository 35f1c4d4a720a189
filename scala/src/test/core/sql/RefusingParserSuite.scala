package io.deltaupkeep.sql

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.DescribeRelation
import org.apache.spark.sql.execution.SparkSqlParser

class RefusingParserSuite extends AnyFunSuite {

  private val sparks = new SparkSqlParser()
  private val parser = RefusingParser.of(sparks, "take another jar")

  test("our statements are refused with the reason") {
    val statements =
      Seq("CHECKPOINT t", "maintain t DRY RUN", " CLEANUP  LOG t", "DESC HEALTH t", "DESCRIBE\nHEALTH t")
    statements.foreach { statement =>
      val e = intercept[UnsupportedOperationException](parser.parsePlan(statement))
      assert(e.getMessage == "[DELTA_UPKEEP.UNSUPPORTED_SPARK] take another jar")
    }
  }

  test("all else is the delegate's, its errors too") {
    assert(parser.parsePlan("SELECT 1") == sparks.parsePlan("SELECT 1"))
    assert(parser.parseTableIdentifier("a.b") == sparks.parseTableIdentifier("a.b"))
    assert(parser.parsePlan("DESCRIBE health").isInstanceOf[DescribeRelation])
    intercept[ParseException](parser.parsePlan("SELEC 1"))
  }
}
