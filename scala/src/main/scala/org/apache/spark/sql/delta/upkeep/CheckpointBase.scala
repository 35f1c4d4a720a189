package org.apache.spark.sql.delta.upkeep

import io.deltaupkeep.checkpoint.Sidecar

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.apache.spark.sql.delta.{
  CheckpointProvider,
  DeltaConfigs,
  LazyCompleteCheckpointProvider,
  V2CheckpointProvider
}
import org.apache.spark.sql.delta.actions.{Action, DeletionVectorDescriptor, FileAction, SingleAction}
import org.apache.spark.sql.functions.{broadcast, coalesce, col}
import org.apache.spark.util.ThreadUtils

/**
 * The last checkpoint of a table and what happened since, for one that builds on it.
 *
 * @param sidecars of the last checkpoint
 */
private[upkeep] final class CheckpointBase private (
    handle: DeltaHandle,
    provider: V2CheckpointProvider,
    val tail: LogTail,
    val sidecars: Seq[Sidecar]
) {
  import CheckpointBase._

  private lazy val files: Map[String, FileStatus] =
    provider.sidecarFileStatuses.map(file => file.getPath.getName -> file).toMap

  def file(sidecar: Sidecar): FileStatus = files(sidecar.name)

  /** The file actions of some sidecars and of the commits since, one for each file. */
  def fileActions(replaced: Seq[Sidecar]): DataFrame = {
    val changes = handle.session.createDataset(tail.fileActions.map(_.wrap)).select("add", "remove")
    if (replaced.isEmpty) changes else changes.union(survivors(replaced))
  }

  private def survivors(replaced: Seq[Sidecar]): DataFrame = {
    val index = CheckpointProvider.checkpointFileIndex(replaced.map(file))
    val keys = handle.session
      .createDataset(tail.touched.toSeq.map(key => (key.path, key.deletionVector.orNull)))(KeyEncoder)
      .toDF("touchedPath", "touchedVector")
    val before = handle.snapshot.deltaLog.loadIndex(index, Action.logSchema).select("add", "remove")
    val vector = coalesce(
      DeletionVectorDescriptor.uniqueIdExpression(col("add.deletionVector")),
      DeletionVectorDescriptor.uniqueIdExpression(col("remove.deletionVector"))
    )
    val isTouched =
      coalesce(col("add.path"), col("remove.path")) === keys("touchedPath") && vector <=> keys(
        "touchedVector"
      )
    val unexpired = handle.snapshot.minFileRetentionTimestamp
    before
      .where(col("add").isNotNull || col("remove.deletionTimestamp") > unexpired)
      .join(broadcast(keys), isTouched, "left_anti")
  }
}

private[upkeep] object CheckpointBase {

  private val FooterThreads = 8
  private val KeyEncoder: Encoder[(String, String)] = Encoders.tuple(Encoders.STRING, Encoders.STRING)

  /** The base of a new checkpoint, or why there is none. */
  def of(handle: DeltaHandle): Either[String, CheckpointBase] =
    for {
      provider <- v2Checkpoint(handle.snapshot.checkpointProvider)
      _ <- obstacleOf(handle, provider).toLeft(())
      before <- nonFileActions(handle, provider)
      tail <- LogTail.read(handle, before)
      sidecars <- sidecarsOf(handle, provider, tail)
    } yield new CheckpointBase(handle, provider, tail, sidecars)

  private def v2Checkpoint(provider: CheckpointProvider): Either[String, V2CheckpointProvider] =
    provider match {
      case v2: V2CheckpointProvider => Right(v2)
      case unread: LazyCompleteCheckpointProvider => v2Checkpoint(unread.underlyingCheckpointProvider)
      case none if none.isEmpty => Left("there is no checkpoint before it")
      case _ => Left("the last checkpoint is a classic one")
    }

  private def obstacleOf(handle: DeltaHandle, provider: V2CheckpointProvider): Option[String] = {
    val age = System.currentTimeMillis() - provider.v2CheckpointFile.getModificationTime
    if (!DeltaConfigs.CHECKPOINT_WRITE_STATS_AS_JSON.fromMetaData(handle.snapshot.metadata))
      Some("checkpoints of the table have no statistics as JSON")
    // A cleanup that runs now may take the sidecars of a checkpoint that has expired.
    else if (age >= handle.facts.logRetentionMs) Some("the last checkpoint has expired")
    else None
  }

  /** By their footers and Bloom filters: two small requests each. */
  private def sidecarsOf(
      handle: DeltaHandle,
      provider: V2CheckpointProvider,
      tail: LogTail
  ): Either[String, Seq[Sidecar]] = {
    val paths = tail.touched.map(_.path)
    val unexpired = handle.snapshot.minFileRetentionTimestamp
    val conf = handle.hadoopConf
    val footers = ThreadUtils.parmap(provider.sidecarFileStatuses, "delta-upkeep-sidecars", FooterThreads) {
      SidecarFooter.read(_, conf)(_.base(paths, unexpired))
    }
    val known = footers.flatten
    if (known.size < footers.size) Left("sidecars of the last checkpoint have no statistics as JSON")
    else Right(known)
  }

  private def nonFileActions(
      handle: DeltaHandle,
      provider: V2CheckpointProvider
  ): Either[String, Seq[Action]] = {
    val topLevel = handle.snapshot.deltaLog.loadIndex(provider.topLevelFileIndex.get, Action.logSchema)
    val actions = topLevel.as[SingleAction].collect().map(_.unwrap).toSeq
    if (actions.exists(_.isInstanceOf[FileAction])) Left("the last checkpoint has files outside its sidecars")
    else Right(actions)
  }
}
