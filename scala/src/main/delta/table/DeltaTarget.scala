package org.apache.spark.sql.delta.upkeep.table

import scala.util.control.NonFatal

import io.deltaupkeep.{UpkeepErrors, UpkeepException}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  ResolvedPersistentView,
  ResolvedTable,
  ResolvedTempView,
  UnresolvedTableOrView
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.CatalogV2Implicits._
import org.apache.spark.sql.connector.catalog.{CatalogManager, Identifier}
import org.apache.spark.sql.delta.{
  DeltaAnalysisException,
  DeltaIllegalStateException,
  DeltaTableUtils,
  DeltaUnsupportedTableFeatureException,
  InvalidProtocolVersionException
}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.sources.DeltaSourceUtils

/** Finds the Delta table that a statement names, or says why there is none. */
object DeltaTarget {

  /** A name of one to three parts, including delta.`/path`. An unknown name stays unresolved. */
  def byName(session: SparkSession, statement: String, nameParts: Seq[String]): LogicalPlan = {
    nameParts.foreach(requireText(statement, _))
    val unresolved = UnresolvedTableOrView(nameParts, statement, allowTempView = true)
    val relations = session.sessionState.analyzer.ResolveRelations
    withKnownFeatures(statement, quoted(nameParts))(relations(unresolved)) match {
      case _: UnresolvedTableOrView if isPath(session, nameParts) =>
        byPath(session, statement, nameParts.last, Map.empty)
      // The table that Delta's catalog has opened is kept: another one would list the log again.
      case PathTable(table) if isPath(session, nameParts) =>
        atPath(session, statement, nameParts.last, table)
      case view @ (_: ResolvedPersistentView | _: ResolvedTempView) =>
        throw UpkeepErrors.viewNotSupported(statement, quoted(nameParts))
      case resolved: ResolvedTable =>
        val table = Plans
          .tableIn(resolved)
          .getOrElse(throw DeltaRefusals.notADeltaTable(statement, quoted(nameParts)))
        // Delta reads the protocol as late as possible. Otherwise its refusal would only appear in the
        // analyzer.
        val snapshot = withKnownFeatures(statement, quoted(nameParts))(table.initialSnapshot)
        if (snapshot.version < 0) throw UpkeepErrors.noDeltaLog(statement, quoted(nameParts), None)
        resolved
      case other => other
    }
  }

  /** The root directory of a table; `fileSystemOptions` are Hadoop settings for this table alone. */
  def byPath(
      session: SparkSession,
      statement: String,
      path: String,
      fileSystemOptions: Map[String, String]
  ): LogicalPlan = {
    requireText(statement, path)
    atPath(session, statement, path, DeltaTableV2(session, new Path(path), options = fileSystemOptions))
  }

  private def atPath(
      session: SparkSession,
      statement: String,
      path: String,
      table: DeltaTableV2
  ): LogicalPlan = {
    val display = quoted(Seq("delta", path))
    withKnownFeatures(statement, display) {
      if (!table.tableExists || table.hasPartitionFilters)
        throw DeltaRefusals.notADeltaTable(statement, display, path, resolved(new Path(path), table))
      // Delta reads a version from the end of a path, as in /table@v3.
      if (table.deltaLog.dataPath.getName != table.path.getName)
        throw UpkeepErrors.timeTravelNotSupported(statement, display)
      val catalog = session.sessionState.catalogManager.v2SessionCatalog.asTableCatalog
      ResolvedTable.create(catalog, Identifier.of(Array(DeltaSourceUtils.ALT_NAME), path), table)
    }
  }

  /** Spark and Hadoop fail differently for each kind of empty name. */
  private[table] def requireText(statement: String, name: String): Unit =
    if (name.trim.isEmpty) throw UpkeepErrors.emptyName(statement)

  /** Delta's catalog returns a table for any path, even if there is none. */
  private object PathTable {
    def unapply(plan: ResolvedTable): Option[DeltaTableV2] = Plans.pathTableIn(plan)
  }

  /** Delta takes only absolute paths for one. A relative one is taken too, as in quotes, if it can be nothing else. */
  private def isPath(session: SparkSession, nameParts: Seq[String]): Boolean =
    nameParts.size == 2 && session.sessionState.conf.runSQLonFile &&
      (DeltaTableUtils.isValidPath(TableIdentifier(nameParts(1), Some(nameParts.head))) ||
        (DeltaSourceUtils.isDeltaTable(nameParts.headOption) &&
          session.sessionState.catalogManager.currentCatalog.name == CatalogManager.SESSION_CATALOG_NAME &&
          !session.sessionState.catalog.databaseExists(nameParts.head)))

  /** What a relative path means; None if it is absolute. */
  private def resolved(path: Path, table: DeltaTableV2): Option[String] =
    Option.unless(path.isAbsolute || path.toUri.getScheme != null) {
      path.getFileSystem(table.deltaLog.newDeltaHadoopConf()).makeQualified(path).toString
    }

  private val LogIsMissing = "DELTA_TABLE_NOT_FOUND"
  private val PathIsBlocked = "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED"

  /**
   * Opens a table. If Delta refuses a protocol that it cannot read or write, or the log is damaged, the error is one
   * of [[UpkeepErrors]].
   */
  private[upkeep] def withKnownFeatures[T](statement: String, table: String)(body: => T): T =
    try InputFailures.explainedLog(statement, table)(body)
    catch { case NonFatal(e) => throw refusal(statement, table, e).getOrElse(e) }

  /** Our error in place of Delta's, if Delta refuses a table because of its features. */
  private[table] def refusal(statement: String, table: String, thrown: Throwable): Option[UpkeepException] =
    thrown match {
      case e: DeltaUnsupportedTableFeatureException
          if e.unsupported.exists(TableFeatures.isAdaptiveMetadata) =>
        Some(UpkeepErrors.adaptiveMetadata(statement, table))
      case e: DeltaUnsupportedTableFeatureException =>
        Some(UpkeepErrors.unsupportedFeature(statement, table, e.unsupported.toSeq, Some(e)))
      case e: DeltaAnalysisException if e.getErrorClass == LogIsMissing =>
        Some(UpkeepErrors.noDeltaLog(statement, table, Some(e)))
      case e: DeltaIllegalStateException if e.getErrorClass == PathIsBlocked =>
        Some(UpkeepErrors.catalogManagedByPath(statement, table, e))
      case e: InvalidProtocolVersionException =>
        val versions =
          Seq(s"reader version ${e.readerRequiredVersion}", s"writer version ${e.writerRequiredVersion}")
        Some(UpkeepErrors.unsupportedFeature(statement, table, versions, Some(e)))
      case _ => None
    }

  private[upkeep] def quoted(nameParts: Seq[String]): String = nameParts.quoted
}
