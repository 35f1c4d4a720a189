package org.apache.spark.sql.delta.upkeep.replay

import io.deltaupkeep.{ByteText, UpkeepConf}

import org.apache.spark.sql.delta.actions.{
  Action,
  AddFile,
  FileAction,
  InMemoryLogReplay,
  Metadata,
  Protocol,
  RemoveFile
}
import org.apache.spark.sql.delta.upkeep.log.{DeltaLogReader, FileKey}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * The net changes of the commits since a checkpoint. Takes about 1 KB of memory for each changed file with
 * statistics. Commits of more than `spark.deltaUpkeep.checkpoint.driverBytes` need a full checkpoint.
 *
 * @param touched        every file that they name
 * @param fileActions    adds, and tombstones that have not expired
 * @param nonFileActions of the whole table
 */
private[upkeep] final case class LogTail(
    touched: Set[FileKey],
    fileActions: Seq[FileAction],
    nonFileActions: Seq[Action]
)

private[upkeep] object LogTail {

  /**
   * Replays the commits of a snapshot that its checkpoint does not hold.
   *
   * @param before non-file actions of the checkpoint
   * @return the tail, or why a checkpoint cannot build on the last one
   */
  def read(handle: DeltaHandle, before: Seq[Action]): Either[String, LogTail] = {
    val snapshot = handle.snapshot
    val reader = new DeltaLogReader(handle)
    val replay = new InMemoryLogReplay(
      Some(snapshot.minFileRetentionTimestamp),
      snapshot.minSetTransactionRetentionTimestamp
    )
    replay.append(0, before.iterator)
    val touched = Set.newBuilder[FileKey]
    val most = handle.session.sessionState.conf.getConf(UpkeepConf.CheckpointDriverBytes)
    var obstacle = Option.when(snapshot.logSegment.deltas.map(_.getLen).sum > most) {
      s"the commits since the last checkpoint take more than ${ByteText.of(most)}"
    }
    for ((file, i) <- snapshot.logSegment.deltas.zipWithIndex if obstacle.isEmpty) {
      val actions = reader.actions(file.getPath)
      obstacle = actions.collectFirst {
        // RESTORE repeats metadata that has not changed.
        case metadata: Metadata if !before.contains(metadata) =>
          "the table's metadata changed since the last checkpoint"
        case protocol: Protocol if !before.contains(protocol) =>
          "the table's protocol changed since the last checkpoint"
        case action: FileAction if FileKey.isUnusual(action.path) =>
          "commits name files by absolute paths"
      }
      touched ++= actions.collect {
        case add: AddFile => FileKey(add.path, add.getDeletionVectorUniqueId)
        case remove: RemoveFile => FileKey(remove.path, remove.getDeletionVectorUniqueId)
      }
      replay.append(i + 1L, actions.iterator)
    }
    obstacle.toLeft {
      val (files, others) = replay.checkpoint.toSeq.partitionMap {
        case file: FileAction => Left(file)
        case other => Right(other)
      }
      LogTail(touched.result(), files, others)
    }
  }
}
