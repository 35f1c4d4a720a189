package org.apache.spark.sql.delta.upkeep.repair

import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}
import org.apache.spark.sql.delta.upkeep.versions.NewFile

private[repair] object RemovedFile {

  /** The action that adds a removed file again. Its time is not known; it is not newer than its removal. */
  def added(remove: RemoveFile): AddFile = NewFile.changed(
    NewFile(
      remove.path,
      Option(remove.partitionValues).getOrElse(Map.empty),
      remove.size.getOrElse(0L),
      remove.delTimestamp,
      remove.tags
    )
  )(
    stats = remove.stats,
    deletionVector = remove.deletionVector,
    baseRowId = remove.baseRowId,
    rowCommitVersion = remove.defaultRowCommitVersion
  )
}
