package org.apache.spark.sql.delta.upkeep.rewrite

import java.io.File

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** Rows of files are compared by what Spark reads. */
class RowComparisonSuite extends AnyFunSuite with TableDrivenPropertyChecks {
  import TestSession.{root, spark}

  /** A table of two commits, and the files of each. */
  private def twoCommits(
      name: String,
      ddl: String,
      first: String,
      second: String
  ): (DeltaHandle, Seq[AddFile], Seq[AddFile]) = {
    val path = new File(root, name).toString
    spark.sql(s"CREATE TABLE delta.`$path` ($ddl) USING delta")
    def append(rows: String): Set[AddFile] = {
      spark.sql(s"INSERT INTO delta.`$path` $rows")
      handle(path).snapshot.allFiles.collect().toSet
    }
    val before = append(first)
    val all = append(second)
    (handle(path), before.toSeq, (all -- before).toSeq)
  }

  private def handle(path: String): DeltaHandle = {
    val plan = DeltaTableV2(spark, new Path(path))
    DeltaHandle.of(spark, plan.update(), None)
  }

  test("the columns that differ are named") {
    val cases = Table(
      ("what", "columns", "before", "after", "differing"),
      ("another order", "a INT, b INT", "VALUES (1, 2), (3, 4)", "VALUES (3, 4), (1, 2)", Nil),
      ("another value", "a INT, b INT", "VALUES (1, 2)", "VALUES (1, 3)", Seq("b", "(rows)")),
      ("a null", "a INT, b STRING", "VALUES (1, 'x')", "VALUES (1, NULL)", Seq("b", "(rows)")),
      (
        "swapped between rows",
        "a INT, b INT",
        "VALUES (1, 2), (3, 4)",
        "VALUES (1, 4), (3, 2)",
        Seq("(rows)")
      ),
      ("a row less", "a INT", "VALUES (1), (1)", "VALUES (1)", Seq("a", "(rows)")),
      ("a row of nulls less", "a INT", "VALUES (1), (NULL)", "VALUES (1)", Seq("a", "(rows)")),
      ("two rows for two", "a INT", "VALUES (1), (1), (2)", "VALUES (1), (2), (2)", Seq("a", "(rows)")),
      ("a zero's sign", "a DOUBLE", "SELECT 0D", "SELECT -0D", Seq("a", "(rows)")),
      ("NaN", "a FLOAT", "SELECT float('NaN')", "SELECT float('NaN')", Nil),
      ("a map", "a MAP<STRING, INT>", "SELECT map('k', 1)", "SELECT map('k', 2)", Seq("a", "(rows)")),
      (
        "deep inside",
        "a ARRAY<STRUCT<x: INT>>",
        "SELECT array(struct(1))",
        "SELECT array(struct(2))",
        Seq("a", "(rows)")
      ),
      ("a variant", "a VARIANT", "SELECT parse_json('1')", "SELECT parse_json('2')", Seq("a", "(rows)")),
      ("odd names", "`a.b` INT, `select` INT", "VALUES (1, 2)", "VALUES (2, 2)", Seq("a.b", "(rows)"))
    )
    forAll(cases) { (what, ddl, before, after, differing) =>
      val (table, first, second) = twoCommits(s"compare-${what.replace(' ', '-')}", ddl, before, after)
      assert(new RowComparison(table).differences(first, second) == differing, what)
    }
  }

  test("row ids are the rows' own") {
    val path = new File(root, "compare-row-ids").toString
    spark.sql(
      s"CREATE TABLE delta.`$path` (a INT) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
    )
    Seq(1, 1).foreach(i => spark.sql(s"INSERT INTO delta.`$path` VALUES ($i)"))
    val files = handle(path).snapshot.allFiles.collect().toSeq
    assert(
      new RowComparison(handle(path)).differences(files.take(1), files.drop(1)).last == RowComparison.Rows
    )
    assert(spark.sql(s"OPTIMIZE delta.`$path`").head().getAs[Boolean]("verified"))
  }
}
