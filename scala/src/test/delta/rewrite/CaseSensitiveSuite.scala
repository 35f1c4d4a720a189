package org.apache.spark.sql.delta.upkeep.rewrite

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.upkeep.TestSession

/** Delta resolves names without case. What Spark is told of the case of names must not change what a rewrite keeps. */
class CaseSensitiveSuite extends AnyFunSuite {
  import TestSession.{root, spark, withConf}

  for (engine <- Seq("auto", "rows"); inBatches <- Seq(true, false))
    test(
      s"columns that files spell in another case keep their values, engine $engine, in batches $inBatches"
    ) {
      val path = new File(root, s"case-$engine-$inBatches").toString
      Seq(Seq("named_struct('n', id) AS s", "id"), Seq("named_struct('N', id) AS S", "id AS Id")).foreach {
        columns =>
          spark.range(3).selectExpr(columns: _*).coalesce(1).write.mode("append").parquet(path)
      }
      spark.sql(s"CONVERT TO DELTA parquet.`$path`")
      def rows = spark.sql(s"SELECT id, s.n FROM delta.`$path` ORDER BY 1").collect().toSeq
      val before = rows
      assert(before.forall(!_.isNullAt(1)))
      withConf(
        "spark.sql.caseSensitive" -> "true",
        "spark.sql.parquet.enableVectorizedReader" -> inBatches.toString,
        "spark.deltaUpkeep.optimize.engine" -> engine
      ) {
        val bins = spark.sql(s"OPTIMIZE delta.`$path`").selectExpr("to_json(bins)").head().getString(0)
        assert(!bins.contains("spot check") && !bins.contains("another value"), bins)
      }
      assert(rows == before)
    }
}
