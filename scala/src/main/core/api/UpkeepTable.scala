package io.deltaupkeep.api

import java.{lang => jl, util => ju}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.cluster.SortKey
import io.deltaupkeep.statement.{Statement, StatementKind, UnresolvedTarget}
import io.deltaupkeep.store.TableDirectories

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.delta.upkeep.spark.JobProgress
import org.apache.spark.sql.delta.upkeep.table.{Plans, PublicTable}

/** A Delta table for the statements of Delta Upkeep. Python calls it through Py4J. */
final class UpkeepTable private (
    session: SparkSession,
    target: String => UnresolvedTarget,
    open: () => AnyRef
) {

  /** Delta's own `DeltaTable`. */
  def deltaTable(): AnyRef = open()

  /**
   * Runs a statement immediately, and returns its result rows.
   *
   * @param kind           such as `OPTIMIZE`; it ignores clauses that it does not have
   * @param where          conditions that must all be true; each is parsed separately
   * @param columns        names, for ZORDER BY or FOR COLUMNS
   * @param orderBy        keys of ORDER BY, such as `b DESC`
   * @param retentionHours null for the table's own
   */
  def run(
      kind: String,
      full: Boolean,
      where: ju.List[String],
      columns: ju.List[String],
      orderBy: ju.List[String],
      retentionHours: jl.Double,
      dryRun: Boolean,
      options: ju.Map[String, String]
  ): DataFrame = {
    val statement = Statement(
      StatementKind.named(kind),
      full,
      where.asScala.toSeq,
      columns.asScala.toSeq.map(UnresolvedAttribute.parseAttributeName),
      orderBy.asScala.toSeq.map(SortKey.one),
      Option(retentionHours).map(_.toString),
      dryRun,
      options.asScala.toSeq
    )
    Plans.run(session, statement.on(target))
  }
}

object UpkeepTable {

  /** @param name of one to three parts, or delta.`/path` */
  def forName(session: SparkSession, name: String): UpkeepTable = {
    if (name.trim.isEmpty) throw UpkeepErrors.emptyName("UpkeepTable.forName")
    val parts = session.sessionState.sqlParser.parseMultipartIdentifier(name)
    new UpkeepTable(session, UnresolvedTarget.name(_, parts), () => PublicTable.forName(session, name))
  }

  /** @param fileSystemOptions Hadoop settings for this table only, such as the keys of a store */
  def forPath(session: SparkSession, path: String, fileSystemOptions: ju.Map[String, String]): UpkeepTable = {
    val options = fileSystemOptions.asScala.toMap
    new UpkeepTable(
      session,
      UnresolvedTarget.path(_, path, options),
      () => PublicTable.forPath(session, path, options)
    )
  }

  /** @param deltaTable Delta's own `DeltaTable` */
  def of(session: SparkSession, deltaTable: AnyRef): UpkeepTable = {
    val place = PublicTable.placeOf(deltaTable)
    val target = place.name match {
      case Some(parts) => UnresolvedTarget.name(_: String, parts)
      case None => UnresolvedTarget.path(_: String, place.path, place.fileSystemOptions)
    }
    new UpkeepTable(session, target, () => deltaTable)
  }

  /** The directories that match a glob, and whether each has a Delta log. */
  def directories(session: SparkSession, glob: String): ju.Map[String, Boolean] =
    TableDirectories.matching(glob, session.sessionState.newHadoopConf()).asJava

  /** The progress of the newest running job with a tag; null if there is none. */
  def progress(session: SparkSession, tag: String): JobProgress = JobProgress.of(session, tag).orNull
}
