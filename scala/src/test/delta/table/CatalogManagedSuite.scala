package org.apache.spark.sql.delta.upkeep.table

import java.{lang => jl, util => ju}
import java.io.File
import java.nio.file.Files

import io.delta.storage.LogStore
import io.delta.storage.commit.{
  CommitCoordinatorClient,
  CommitResponse,
  GetCommitsResponse,
  TableDescriptor,
  TableIdentifier,
  UpdatedActions
}
import io.delta.storage.commit.actions.{AbstractMetadata, AbstractProtocol}
import io.deltaupkeep.UpkeepException
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.coordinatedcommits.{
  CatalogOwnedCommitCoordinatorBuilder,
  CatalogOwnedCommitCoordinatorProvider,
  CommitCoordinatorProvider,
  InMemoryCommitCoordinatorBuilder
}
import org.apache.spark.sql.delta.upkeep.TestSession

/** Tables whose commits a catalog owns: what is ours to do there, and what is the catalog's. */
class CatalogManagedSuite extends AnyFunSuite with BeforeAndAfterAll {
  import TestSession._

  override protected def beforeAll(): Unit =
    CatalogOwnedCommitCoordinatorProvider.registerBuilder("spark_catalog", EverythingIsPublished)

  override protected def afterAll(): Unit = CatalogOwnedCommitCoordinatorProvider.clearBuilders()

  private val catalogManaged = Seq("catalogManaged", "vacuumProtocolCheck")
  private val adaptiveMetadata =
    Seq("adaptiveMetadata-preview", "deletionVectors", "columnMapping") ++ catalogManaged

  /** A named table that takes the features with its third commit. */
  private def tableWith(name: String, readerFeatures: Seq[String]): String = {
    val path = newTable(name, 2, "delta.enableInCommitTimestamps" -> "true")
    spark.sql(s"CREATE TABLE $name USING delta LOCATION '$path'")
    val quoted = readerFeatures.map(feature => s""""$feature"""").mkString(",")
    val writers = s"""$quoted,"inCommitTimestamp","rowTracking","domainMetadata""""
    val commit =
      s"""{"commitInfo":{"inCommitTimestamp":${System.currentTimeMillis()},"timestamp":0,"operation":"TEST",
         |"operationParameters":{}}}""".stripMargin.replace("\n", "") + "\n" +
        s"""{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[$quoted],
           |"writerFeatures":[$writers]}}""".stripMargin.replace("\n", "") + "\n"
    Files.writeString(new File(path, "_delta_log/00000000000000000003.json").toPath, commit)
    DeltaLog.clearCache()
    name
  }

  private def condition(text: String): String =
    intercept[UpkeepException](spark.sql(text)).getCondition.stripPrefix("DELTA_UPKEEP.")

  test("file rewrites and log cleanup are the catalog's") {
    val name = tableWith("managed1", catalogManaged)
    assert(condition(s"OPTIMIZE $name") == "CATALOG_MANAGED_TABLE")
    assert(condition(s"CLEANUP LOG $name") == "CATALOG_MANAGED_TABLE")
  }

  test("a checkpoint and a look at the health are ours") {
    val name = tableWith("managed2", catalogManaged)
    val health = spark.sql(s"DESCRIBE HEALTH $name").collect()
    assert(health.forall(row => row.isNullAt(row.fieldIndex("remedy"))), "no remedy: the catalog mends it")
    val steps = spark.sql(s"MAINTAIN $name DRY RUN").collect().map(_.getAs[String]("status"))
    assert(steps.toSeq == Seq("skipped", "not due", "skipped", "skipped"))
    assert(spark.sql(s"CHECKPOINT $name").head().getAs[String]("status") == "written")
  }

  test("tables whose coordinator has commits that are not in the log yet") {
    CommitCoordinatorProvider.registerBuilder(InMemoryCommitCoordinatorBuilder(batchSize = 100))
    try
      for (policy <- Seq("classic", "v2")) {
        val path = newTable(
          s"coordinated-$policy",
          3,
          "delta.coordinatedCommits.commitCoordinator-preview" -> "in-memory",
          "delta.coordinatedCommits.commitCoordinatorConf-preview" -> "{}",
          "delta.enableInCommitTimestamps" -> "true",
          "delta.enableDeletionVectors" -> "false",
          "delta.checkpointPolicy" -> policy,
          "delta.checkpointInterval" -> "1000"
        )
        val log = new File(path, "_delta_log")
        def isInLog(version: Long) = new File(log, f"$version%020d.json").exists()
        def run(statement: String) = {
          DeltaLog.clearCache()
          spark.sql(s"$statement delta.`$path`").collect().head
        }
        def checkpoint(): (Long, String) = {
          val row = run("CHECKPOINT")
          (row.getAs[Long]("version"), row.getAs[String]("mode"))
        }
        assert(!isInLog(1) && !isInLog(3))
        run("DESCRIBE HEALTH")
        run("OPTIMIZE")
        assert(!isInLog(4))
        assert(checkpoint() == ((4, "full")))
        append(path, 100)
        assert(!isInLog(5))
        assert(checkpoint() == ((5, "incremental")))
        append(path, 101)
        damageParquet(log)
        assert(!isInLog(6))
        assert(checkpoint() == ((6, "full")))
        run("MAINTAIN")
        run("CLEANUP LOG")
        assert(ids(path) == Seq(1, 2, 3, 100, 101))
      }
    finally CommitCoordinatorProvider.clearNonDefaultBuilders()
  }

  private def damageParquet(log: File): Unit =
    Seq(log, new File(log, "_sidecars")).flatMap(directory => Option(directory.listFiles())).flatten.foreach {
      file =>
        if (file.getName.endsWith(".parquet")) Files.writeString(file.toPath, "no Parquet")
        else if (file.getName.endsWith(".parquet.crc")) file.delete()
    }

  test("adaptive metadata is nobody's but its writers'") {
    val name = tableWith("adaptive", adaptiveMetadata)
    val key = "spark.databricks.delta.adaptiveMetadataTree.preview.enabled"
    Seq("true", "false").foreach { known =>
      spark.conf.set(key, known)
      DeltaLog.clearCache()
      Seq("OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "DESCRIBE HEALTH", "MAINTAIN").foreach { statement =>
        assert(condition(s"$statement $name") == "ADAPTIVE_METADATA_TABLE", s"known to Delta: $known")
      }
    }
    spark.conf.unset(key)
  }
}

/** A catalog's coordinator that has no commit which is not in the log already. */
private object EverythingIsPublished extends CatalogOwnedCommitCoordinatorBuilder
    with CommitCoordinatorClient {

  override def getName: String = "everything-is-published"

  override def buildForCatalog(session: SparkSession, catalogName: String): CommitCoordinatorClient = this

  override def build(session: SparkSession, conf: Map[String, String]): CommitCoordinatorClient = this

  override def registerTable(
      logPath: Path,
      identifier: ju.Optional[TableIdentifier],
      version: Long,
      metadata: AbstractMetadata,
      protocol: AbstractProtocol
  ): ju.Map[String, String] = ju.Map.of()

  override def commit(
      logStore: LogStore,
      conf: Configuration,
      table: TableDescriptor,
      version: Long,
      actions: ju.Iterator[String],
      updated: UpdatedActions
  ): CommitResponse = throw new UnsupportedOperationException

  override def getCommits(table: TableDescriptor, start: jl.Long, end: jl.Long): GetCommitsResponse =
    new GetCommitsResponse(ju.List.of(), -1)

  override def backfillToVersion(
      logStore: LogStore,
      conf: Configuration,
      table: TableDescriptor,
      version: Long,
      lastKnown: jl.Long
  ): Unit = ()

  override def semanticEquals(other: CommitCoordinatorClient): Boolean = other eq this
}
