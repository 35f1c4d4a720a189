package org.apache.spark.sql.delta.upkeep.hook

import java.security.PrivilegedExceptionAction

import io.deltaupkeep.maintain.{CleanupStep, StepInput, StepOptions, StepPlan}
import io.deltaupkeep.plan.checkpoint.{CheckpointResult, TopLevelFormat}
import io.deltaupkeep.plan.cleanup.CleanupResult

import org.apache.hadoop.security.UserGroupInformation

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.upkeep.checkpoint.TableCheckpoint
import org.apache.spark.sql.delta.upkeep.read.CheckpointSchema
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Intent}
import org.apache.spark.sql.delta.upkeep.versions.{Commit, DeltaApi}

/**
 * A checkpoint that is due, for the version of a commit.
 *
 * @param commits since the last checkpoint
 */
private[upkeep] case class PendingCheckpoint(
    session: SparkSession,
    snapshot: Snapshot,
    catalogTable: Option[CatalogTable],
    version: Long,
    reason: String,
    commits: Option[Long] = None
) {
  import PendingCheckpoint._

  private val user = UserGroupInformation.getCurrentUser

  val key: TableKey = TableKey.of(snapshot)

  /** Runs something as the user who committed: the current thread may belong to another user. */
  def asUser(work: => Unit): Unit = user.doAs((() => work): PrivilegedExceptionAction[Unit])

  /** The snapshot after a commit may already be of a later version. */
  private def snapshotToWrite: Snapshot =
    if (snapshot.version == version) snapshot
    else DeltaApi.current.snapshotOf(snapshot, version, catalogTable)

  private def tableAt(at: Snapshot): DeltaHandle =
    DeltaHandle.of(session, at, catalogTable).allowing("CHECKPOINT", Intent.Checkpoint)

  private val request = HookRequest.of(session, snapshot)

  def write(): CheckpointResult =
    TableCheckpoint(tableAt(snapshotToWrite), request, commits).execute()

  /**
   * Whether the table alone shows that the checkpoint needs a Spark job. When an application ends, its jobs are
   * cancelled first.
   */
  def needsJob: Boolean = {
    val isParquetV2 = request.format.contains(TopLevelFormat.Parquet)
    val isInParts = request.partSize.nonEmpty && !HookRequest.isV2(snapshot)
    val hasOther = !snapshot.checkpointProvider.isEmpty && !CheckpointSchema.storesStatisticsAsJson(snapshot)
    isParquetV2 || isInParts || hasOther || CheckpointSchema.hasVariantStatistics(snapshot)
  }

  /** Cleans up the log if the table's properties ask for it, as Delta does after a checkpoint. */
  def cleanUp(): Option[CleanupResult] = {
    val table = tableAt(snapshot)
    if (CleanupStep.refusal(table.facts).nonEmpty) None
    else {
      // Another commit may have changed the properties while the checkpoint was written.
      val newest = table.newest
      if (newest.refusal(Statement, Intent.Checkpoint).nonEmpty) None
      else CleanupStep.plan(new StepInput(newest, StepOptions(Statement), newest.now)) match {
        case due: StepPlan.Due => due.execute().cleanup
        case _ => None
      }
    }
  }
}

private[upkeep] object PendingCheckpoint {
  private val Statement = "CLEANUP LOG"

  def of(session: SparkSession, commit: Commit, reason: String, commits: Long): PendingCheckpoint =
    PendingCheckpoint(session, commit.snapshot, commit.catalogTable, commit.version, reason, Some(commits))
}
