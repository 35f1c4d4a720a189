package org.apache.spark.sql.delta.upkeep

import java.io.File

import org.scalatest.funsuite.AnyFunSuite

/** Delta resolves names without case. What Spark is told of the case of names must not change what a rewrite keeps. */
class CaseSensitiveSuite extends AnyFunSuite {
  import TestSession.{root, spark, withConf}

  Seq("auto", "rows").foreach { engine =>
    test(s"columns that files spell in another case keep their values, engine $engine") {
      val path = new File(root, s"case-$engine").toString
      Seq(Seq("named_struct('n', id) AS s", "id"), Seq("named_struct('N', id) AS S", "id AS Id")).foreach {
        columns =>
          spark.range(3).selectExpr(columns: _*).coalesce(1).write.mode("append").parquet(path)
      }
      spark.sql(s"CONVERT TO DELTA parquet.`$path`")
      def rows = spark.sql(s"SELECT id, s.n FROM delta.`$path` ORDER BY 1").collect().toSeq
      val before = rows
      assert(before.forall(!_.isNullAt(1)))
      withConf("spark.sql.caseSensitive" -> "true", "spark.deltaUpkeep.optimize.engine" -> engine) {
        spark.sql(s"OPTIMIZE delta.`$path`")
      }
      assert(rows == before)
    }
  }
}
