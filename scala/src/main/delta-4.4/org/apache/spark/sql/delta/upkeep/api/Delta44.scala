package org.apache.spark.sql.delta.upkeep.api

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.{CheckpointProvider, LazyCompleteCheckpointProvider, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile

/** Since 4.4 a checkpoint need not be a set of files, and files have more fields. */
private[api] object Delta44 extends DeltaSince41 {

  override def newFile(
      path: String,
      partitionValues: Map[String, String],
      size: Long,
      modificationTime: Long,
      tags: Map[String, String]
  ): AddFile = AddFile(path, partitionValues, size, modificationTime, dataChange = false, tags = tags)

  override def changed(add: AddFile)(
      path: String,
      dataChange: Boolean,
      stats: String,
      baseRowId: Option[Long],
      rowCommitVersion: Option[Long]
  ): AddFile = add.copy(
    path = path,
    dataChange = dataChange,
    stats = stats,
    baseRowId = baseRowId,
    defaultRowCommitVersion = rowCommitVersion
  )

  override def complete(checkpoint: CheckpointProvider): CheckpointProvider = checkpoint match {
    case unread: LazyCompleteCheckpointProvider => complete(unread.underlyingCheckpointProvider)
    case complete => complete
  }

  override def checkpointActions(session: SparkSession, snapshot: Snapshot): Option[DataFrame] =
    snapshot.checkpointProvider.loadActionsForStateReconstruction(session, snapshot.deltaLog)
}
