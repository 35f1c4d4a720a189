package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.{DeltaLog, Snapshot}

/**
 * A commit that succeeded.
 *
 * @param snapshot the newest version when the commit ended, which may be later than the commit's
 * @param ofDelta   Delta's own form of it, which differs between its versions
 */
private[upkeep] final case class Commit(
    deltaLog: DeltaLog,
    catalogTable: Option[CatalogTable],
    version: Long,
    snapshot: Snapshot,
    ofDelta: AnyRef
)

/** A transaction that hides from Delta that a checkpoint is due. */
private[upkeep] trait CheckpointsHidden

/** Runs after commits. */
private[upkeep] trait CommitHook {

  /** For logs and errors. */
  def name: String

  def run(session: SparkSession, commit: Commit): Unit
}
