package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.Files

import io.deltaupkeep.UpkeepConf

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** One Spark session for all suites, with ours before Delta's: the order that the Python tests do not have. */
object TestSession {

  val root: File = Files.createTempDirectory("delta-upkeep").toFile

  lazy val spark: SparkSession = SparkSession
    .builder()
    // A task that fails is tried once more, as on a cluster.
    .master("local[2, 2]")
    .config("spark.ui.enabled", "false")
    // Queries of a few rows take longer to be compiled, and planned again, than to run; Python tests have them as usual.
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .config("spark.sql.adaptive.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .config("spark.sql.warehouse.dir", new File(root, "warehouse").toString)
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:upkeep;create=true")
    .config(
      "spark.sql.extensions",
      "io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension,io.delta.sql.DeltaSparkSessionExtension"
    )
    // Suites say themselves when checkpoints are made.
    .config("spark.deltaUpkeep.checkpoint.mode", "delta")
    .config("spark.hadoop.fs.file.impl", "io.deltaupkeep.store.ForklessFileSystem")
    .config("spark.hadoop.fs.AbstractFileSystem.file.impl", "io.deltaupkeep.store.ForklessFs")
    .config("spark.hadoop.fs.latency.impl", "io.deltaupkeep.store.LatencyFileSystem")
    .config("spark.delta.logStore.latency.impl", "io.deltaupkeep.store.RetriedLogStore")
    .config("spark.hadoop.fs.unsteady.impl", "io.deltaupkeep.store.UnsteadyFileSystem")
    .config("spark.delta.logStore.unsteady.impl", "io.delta.storage.LocalLogStore")
    .config("spark.hadoop.fs.asked.impl", "io.deltaupkeep.store.AskedFileSystem")
    .config("spark.delta.logStore.asked.impl", "io.delta.storage.LocalLogStore")
    .config("spark.hadoop.fs.whole.impl", "io.deltaupkeep.store.WholeFileSystem")
    .config("spark.delta.logStore.whole.impl", "io.delta.storage.GCSLogStore")
    // Whatever a suite makes OPTIMIZE write, Spark reads it as it reads the inputs.
    .config("spark.deltaUpkeep.optimize.verify", "true")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .getOrCreate()

  /** A table of `commits` commits, one small file each, ids from one. */
  def newTable(name: String, commits: Int, properties: (String, String)*): String =
    newTableAt(new File(root, name).getAbsolutePath, commits, properties: _*)

  def newTableAt(path: String, commits: Int, properties: (String, String)*): String = {
    def build(at: String): Unit = {
      val pairs = properties.map { case (key, value) => s"'$key' = '$value'" }
      val clause = if (properties.isEmpty) "" else pairs.mkString("TBLPROPERTIES (", ", ", ")")
      spark.sql(s"CREATE TABLE delta.`$at` (id BIGINT, p INT) USING delta PARTITIONED BY (p) $clause")
      (1 to commits).foreach(append(at, _))
    }
    if (isAllInItsFiles(properties)) Templates.copy(path, (commits, properties))(build) else build(path)
    path
  }

  /** Whether a copy of the files is a table of its own, and nothing else comes of its commits. */
  private def isAllInItsFiles(properties: Seq[(String, String)]): Boolean =
    spark.conf.get(UpkeepConf.CheckpointMode.key) == "delta" && !properties.exists { case (name, _) =>
      // Delta counts small files by the table's id, and a coordinator holds commits.
      name.startsWith("delta.autoOptimize.") || name.startsWith("delta.coordinatedCommits.")
    }

  def newest(path: String): Snapshot = DeltaApi.current.newest(DeltaTableV2(spark, new Path(path)))

  def append(path: String, id: Int): Unit =
    spark.sql(s"INSERT INTO delta.`$path` VALUES ($id, ${id % 2})")

  /** Runs something with settings of the session, which has none of them before. */
  def withConf[T](settings: (String, String)*)(body: => T): T = {
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally settings.foreach { case (key, _) => spark.conf.unset(key) }
  }

  def ids(path: String): Seq[Long] =
    spark.read.format("delta").load(path).select("id").collect().map(_.getLong(0)).sorted.toSeq
}
