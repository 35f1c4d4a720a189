package org.apache.spark.sql.delta.upkeep

import java.io.File

import io.deltaupkeep.UpkeepException
import org.apache.commons.io.FileUtils
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.commands.optimize.OptimizeMetrics
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.DeltaTarget
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.types.StructType

/** What users of Delta's own OPTIMIZE rely on, held against the Delta on the class path. */
class DropInSuite extends AnyFunSuite {
  import TestSession._

  private val metrics = Encoders.product[OptimizeMetrics]

  /** Delta's own, of a copy of the table. Its command is run as it is, so no rule can replace it. */
  private def byDelta(path: String, zOrderBy: String*): OptimizeMetrics = {
    val copy = s"$path-delta"
    FileUtils.deleteQuietly(new File(copy))
    FileUtils.copyDirectory(new File(path), new File(copy))
    val table = DeltaTarget.byPath(spark, "OPTIMIZE", copy, Map.empty)
    val context = DeltaApi.current.optimizeContext("OPTIMIZE", full = false)
    val columns = zOrderBy.map(UnresolvedAttribute.quotedString)
    val rows = new OptimizeTableCommand(table, Nil, context)(columns).run(spark)
    rows.head.getAs[OptimizeMetrics](1)
  }

  private def typeOfMetrics(result: DataFrame): StructType =
    result.schema("metrics").dataType.asInstanceOf[StructType]

  /** By name, without times and what depends on the bytes of new files. */
  private def comparable(found: OptimizeMetrics): Map[String, Any] =
    metrics.schema.fieldNames.zip(found.productIterator.toSeq).toMap.map {
      case ("filesAdded", _) => "numFilesAdded" -> found.filesAdded.totalFiles
      case other => other
    } -- Seq("startTimeMs", "endTimeMs", "preserveInsertionOrder")

  private def assertSame(path: String, statement: String, zOrderBy: String*): Unit = {
    val expected = comparable(byDelta(path, zOrderBy: _*))
    val result = spark.sql(statement)
    val found = result.select("metrics.*").as[OptimizeMetrics](metrics).head()
    assert(comparable(found) == expected, statement)
  }

  test("metrics have the fields of Delta's first, and its values") {
    val path = newTable(
      "metrics",
      4,
      "delta.enableDeletionVectors" -> "true",
      "delta.dataSkippingNumIndexedCols" -> "1"
    )
    spark.range(10, 20, 1, 1).selectExpr("id", "1 AS p").write.format("delta").mode("append").save(path)
    spark.sql(s"DELETE FROM delta.`$path` WHERE id IN (11, 12)")
    val optimize = s"OPTIMIZE delta.`$path`"
    val found = typeOfMetrics(spark.sql(s"$optimize DRY RUN"))
    assert(found.take(metrics.schema.size) == metrics.schema.toSeq)
    assertSame(path, optimize)
    assertSame(path, optimize)
    assertSame(path, s"$optimize ZORDER BY (id)", "id")
  }

  test("metrics of clustering are Delta's") {
    val path = new File(root, "metrics-clustered").getAbsolutePath
    spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, p INT) USING delta CLUSTER BY (id)")
    for (_ <- 1 to 2) {
      (1 to 2).foreach(append(path, _))
      assertSame(path, s"OPTIMIZE delta.`$path`")
    }
  }

  /** The condition of ours, and that of its cause. */
  private def refusal(statement: String): (String, String) = {
    val e = withClue(statement)(intercept[UpkeepException](spark.sql(statement)))
    val cause = Option(e.getCause).collect {
      case thrown: Throwable with SparkThrowable => SparkApi.condition(thrown)
    }
    (e.name, cause.orNull)
  }

  test("what Delta refuses too has Delta's error as its cause") {
    val t = s"delta.`${newTable("refusals", 2)}`"
    val clustered = s"delta.`${new File(root, "refusals-clustered")}`"
    spark.sql(s"CREATE TABLE $clustered (id BIGINT) USING delta CLUSTER BY (id)")
    val unindexed = s"delta.`${newTable("refusals-unindexed", 1, "delta.dataSkippingNumIndexedCols" -> "0")}`"
    val parquet = new File(root, "refusals-parquet").toString
    spark.range(1).write.mode("overwrite").parquet(parquet)
    val onlyOfPaths = "DELTA_TABLE_ONLY_OPERATION"
    Seq(
      s"OPTIMIZE $t ZORDER BY (p)" -> ("ZORDER_COLUMN", "DELTA_ZORDERING_ON_PARTITION_COLUMN"),
      s"OPTIMIZE $t ZORDER BY (P)" -> ("ZORDER_COLUMN", "DELTA_ZORDERING_ON_PARTITION_COLUMN"),
      s"OPTIMIZE $t ZORDER BY (x)" -> ("ZORDER_COLUMN", "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST"),
      s"OPTIMIZE $t ZORDER BY (id.x)" -> ("ZORDER_COLUMN", "DELTA_COLUMN_PATH_NOT_NESTED"),
      s"OPTIMIZE $unindexed ZORDER BY (id)" -> ("ZORDER_COLUMN", "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS"),
      s"OPTIMIZE $t WHERE x = 1" -> ("MISSING_COLUMN", "DELTA_NON_PARTITION_COLUMN_REFERENCE"),
      s"REORG TABLE $t WHERE id = 1 APPLY (PURGE)" ->
        ("NON_PARTITION_COLUMN", "DELTA_NON_PARTITION_COLUMN_REFERENCE"),
      s"OPTIMIZE $t WHERE p =" -> ("INVALID_PREDICATE", "DELTA_FAILED_RECOGNIZE_PREDICATE"),
      s"OPTIMIZE $t WHERE p IN (SELECT 1)" ->
        ("SUBQUERY_IN_PREDICATE", "DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES"),
      s"OPTIMIZE $clustered ZORDER BY (id)" -> ("CLUSTERED_TABLE", "DELTA_CLUSTERING_WITH_ZORDER_BY"),
      s"OPTIMIZE '$parquet'" -> ("NOT_A_DELTA_TABLE", onlyOfPaths),
      s"OPTIMIZE '$parquet-missing'" -> ("NOT_A_DELTA_TABLE", onlyOfPaths)
    ).foreach { case (statement, expected) => assert(refusal(statement) == expected, statement) }
    val (_, full) = refusal(s"OPTIMIZE $t FULL")
    val hasFull = DeltaApi.current.fullRefusal.nonEmpty
    assert(full == (if (hasFull) "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED" else null))
  }

  test("MAINTAIN shows the same metrics") {
    val result = spark.sql(s"MAINTAIN delta.`${newTable("metrics-maintain", 4)}`")
    val zOrderStats = result.select("optimize.metrics.*").schema("zOrderStats")
    assert(zOrderStats == metrics.schema("zOrderStats"))
    assert(result.select("optimize.metrics.numBatches").head().getLong(0) >= 1)
  }

  test("an empty name is told by every statement") {
    val statements = Seq("OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "DESCRIBE HEALTH", "MAINTAIN")
    val targets = Seq("''", "' '", "delta.``", "delta.` `")
    for (statement <- statements; target <- targets)
      assert(refusal(s"$statement $target")._1 == "EMPTY_NAME", s"$statement $target")
    for (target <- targets.filter(_.startsWith("delta")))
      assert(refusal(s"REORG TABLE $target APPLY (PURGE)")._1 == "EMPTY_NAME", target)
  }
}
