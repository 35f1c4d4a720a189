package org.apache.spark.sql.delta.upkeep.hook

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.plan.compact.Layout

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.hooks.{AutoCompact, AutoCompactPartitionReserve, AutoCompactUtils}
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.AutoCompactPartitionStats
import org.apache.spark.sql.delta.upkeep.optimize.{OptimizeDefaults, OptimizeRequest, TableOptimize}
import org.apache.spark.sql.delta.upkeep.files.FilePredicate
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures, Intent, Switch}
import org.apache.spark.sql.delta.upkeep.versions.{Commit, CommitHook, DeltaApi}

/**
 * Auto-compaction with our engine. Delta decides after a commit whether to compact, and which partitions.
 * Delta also does the work for tables with clustering columns, for tables that our OPTIMIZE refuses, and if
 * `spark.deltaUpkeep.optimize.engine` is `rows`.
 *
 * As with Delta's, a failure is logged and never fails the commit before it, unless the session asks for that
 * (`spark.databricks.delta.postCommitHook.throwOnError`).
 */
private[upkeep] case object UpkeepAutoCompact extends CommitHook with Logging {

  override def name: String = AutoCompact.name

  override def run(session: SparkSession, commit: Commit): Unit =
    if (DeltaApi.current.mayAutoCompact(session, commit))
      ourTable(session, commit) match {
        case Some(table) => compactPartitions(session, commit)(compact(table, _))
        case None => DeltaApi.current.autoCompact(session, commit)
      }

  private def ourTable(session: SparkSession, commit: Commit): Option[DeltaHandle] = {
    val engine = session.sessionState.conf.getConf(UpkeepConf.OptimizeEngine)
    if (engine == "rows" || !Switch.isOn(commit.snapshot)) None
    else tableOf(session, commit)
  }

  private def tableOf(session: SparkSession, commit: Commit): Option[DeltaHandle] = {
    val table = DeltaHandle.of(session, commit.snapshot, commit.catalogTable).newest
    val refused = table.refusal("OPTIMIZE", Intent.Reorganize)
    refused.foreach(why => logInfo(s"Auto-compaction is left to Delta: ${why.getMessage}"))
    if (refused.isEmpty && table.facts.clusteringColumns.isEmpty) Some(table) else None
  }

  /** The partitions are reserved while they are compacted, because other threads commit to the table too. */
  private def compactPartitions(session: SparkSession, commit: Commit)(
      compact: Seq[Expression] => Unit
  ): Unit = {
    val request = DeltaApi.current.autoCompactRequest(session, commit)
    val tableId = commit.snapshot.metadata.id
    if (request.shouldCompact)
      try {
        compact(request.targetPartitionsPredicate)
        AutoCompactPartitionStats.instance(session).markPartitionsAsCompacted(
          tableId,
          request.allowedPartitions
        )
      } finally
        if (AutoCompactUtils.reservePartitionEnabled(session))
          AutoCompactPartitionReserve.releasePartitions(tableId, request.allowedPartitions)
  }

  private def compact(table: DeltaHandle, predicate: Seq[Expression]): Unit = {
    val conf = table.session.sessionState.conf
    val target = conf.getConf(DeltaSQLConf.DELTA_AUTO_COMPACT_MAX_FILE_SIZE)
    val settings = OptimizeDefaults.ofSession(table.session).copy(
      targetFileSize = target,
      minFileSize = conf.getConf(DeltaSQLConf.DELTA_AUTO_COMPACT_MIN_FILE_SIZE).getOrElse(target / 2),
      compression = OptimizeDefaults.compressionOf(table)
    )
    val optimize =
      TableOptimize(table, OptimizeRequest(Layout.Compact, FilePredicate(predicate), isAuto = true), settings)
    InputFailures.explained("OPTIMIZE", table.table)(optimize.execute())
    ()
  }
}
