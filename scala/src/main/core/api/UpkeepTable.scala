package io.deltaupkeep.api

import java.{lang => jl, util => ju}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.statement.{Statements, UnresolvedTarget}

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.upkeep.spark.JobProgress
import org.apache.spark.sql.delta.upkeep.table.PublicTable

/**
 * A Delta table with the statements of Delta Upkeep as methods. Each method returns the result rows of its
 * statement. Python calls it through Py4J; Java and Scala can call it directly.
 *
 * A statement runs when its method is called. The options are those of the statement.
 */
final class UpkeepTable private (session: SparkSession, target: String => UnresolvedTarget) {
  private val statements = new Statements(session, target)

  /** `OPTIMIZE` of the files that meet every condition of `where`; each condition is parsed separately. */
  def optimize(
      where: ju.List[String],
      zOrderBy: ju.List[String],
      full: Boolean,
      dryRun: Boolean,
      options: ju.Map[String, String]
  ): DataFrame =
    statements.optimize(where.asScala.toSeq, zOrderBy.asScala.toSeq, full, dryRun, options.asScala.toSeq)

  /** `CHECKPOINT`. */
  def checkpoint(dryRun: Boolean, options: ju.Map[String, String]): DataFrame =
    statements.checkpoint(dryRun, options.asScala.toSeq)

  /** `CLEANUP LOG`; if `retentionHours` is null, the table's own retention applies. */
  def cleanupLog(retentionHours: jl.Double, dryRun: Boolean, options: ju.Map[String, String]): DataFrame =
    statements.cleanupLog(Option(retentionHours).map(_.toString), dryRun, options.asScala.toSeq)

  /** `DESCRIBE HEALTH`. */
  def health(): DataFrame = statements.health()

  /** `MAINTAIN`. */
  def maintain(dryRun: Boolean, options: ju.Map[String, String]): DataFrame =
    statements.maintain(dryRun, options.asScala.toSeq)
}

object UpkeepTable {

  /** @param name of one to three parts, or delta.`/path` */
  def forName(session: SparkSession, name: String): UpkeepTable = {
    val parts = session.sessionState.sqlParser.parseMultipartIdentifier(name)
    new UpkeepTable(session, UnresolvedTarget.name(_, parts))
  }

  def forPath(session: SparkSession, path: String): UpkeepTable = forPath(session, path, ju.Map.of())

  /** Delta's own `DeltaTable` of that name. */
  def deltaTableForName(session: SparkSession, name: String): AnyRef = PublicTable.forName(session, name)

  /** Delta's own `DeltaTable` at that path. */
  def deltaTableForPath(
      session: SparkSession,
      path: String,
      fileSystemOptions: ju.Map[String, String]
  ): AnyRef = PublicTable.forPath(session, path, fileSystemOptions.asScala.toMap)

  /** The progress of the newest running job with a tag; null if there is none. */
  def progress(session: SparkSession, tag: String): JobProgress = JobProgress.of(session, tag).orNull

  /** @param fileSystemOptions Hadoop settings for this table only, such as the keys of a store */
  def forPath(session: SparkSession, path: String, fileSystemOptions: ju.Map[String, String]): UpkeepTable = {
    val options = fileSystemOptions.asScala.toMap
    new UpkeepTable(session, UnresolvedTarget.path(_, path, options))
  }
}
