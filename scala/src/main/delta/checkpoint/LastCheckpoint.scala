package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.plan.checkpoint.{Fragment, Policy}

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.{
  CheckpointInstance,
  CheckpointProvider,
  LastCheckpointInfo,
  LastCheckpointV2,
  PreloadedCheckpointProvider,
  V2CheckpointProvider
}
import org.apache.spark.sql.delta.actions.{Action, FileAction}
import org.apache.spark.sql.delta.upkeep.read.{
  CheckpointFiles,
  CheckpointFooter,
  CheckpointSchema,
  DeltaLogReader,
  ListedLog,
  NonFileActions
}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** The checkpoint from which Delta reads a table, as the base of a new one. */
private[checkpoint] sealed abstract class LastCheckpoint(handle: DeltaHandle) {

  protected val snapshot = handle.snapshot
  protected val conf = handle.hadoopConf
  protected val session = handle.session

  /** The files that hold its file actions. */
  def files: Seq[FileStatus]

  /** The number of its actions. */
  def size: Long

  /** The number of its files. */
  def adds: Long = eachFooter(_.whole.adds).sum

  /** The fragments of a file. */
  protected def fragmentsOf(footer: CheckpointFooter): Seq[Fragment]

  /** Why a checkpoint with this schema cannot reuse its fragments, as far as is known without reading them. */
  def obstacle(checkpointSchema: CheckpointSchema): Option[String] =
    if (checkpointSchema.hasVariantStatistics) Some("variant statistics are read by a query")
    else if (CheckpointSchema.storesStatisticsAsJson(snapshot)) obstacleOfFiles
    else Some("checkpoints of the table store no statistics as JSON")

  protected def obstacleOfFiles: Option[String]

  /** Tells of a file why a checkpoint with this schema cannot reuse its fragments. */
  protected def obstacleIn(checkpointSchema: CheckpointSchema): CheckpointFooter => Option[String]

  /** The non-file actions, or why there are also file actions outside the fragments. */
  def nonFileActions: Either[String, Seq[Action]]

  /**
   * Its fragments, or why a checkpoint with this schema cannot reuse them. Those that it cannot keep are marked as
   * touched. Opens each file once, for the footer and Bloom filters, and the size column if the footer has no sum.
   *
   * @param paths of the files that later commits name
   */
  def fragments(checkpointSchema: CheckpointSchema, paths: Set[String]): Either[String, Seq[Fragment]] = {
    val unexpired = snapshot.minFileRetentionTimestamp
    val canonical = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)
    def looked(footer: CheckpointFooter)(fragment: Fragment): Fragment = {
      val isTouched = footer.hasOtherActions(fragment) || footer.isExpired(fragment, unexpired) ||
        footer.names(fragment, paths, canonical)
      if (isTouched) fragment.copy(isTouched = true) else footer.summed(fragment)
    }
    val obstacle = obstacleIn(checkpointSchema)
    val (obstacles, found) = eachFooter { footer =>
      obstacle(footer).toLeft(fragmentsOf(footer).map(looked(footer)))
    }.partitionMap(identity)
    obstacles.headOption.toLeft(found.flatten)
  }

  protected def eachFooter[T](look: CheckpointFooter => T): Seq[T] =
    CheckpointFooter.readAll(files, conf)(look)
}

private[checkpoint] object LastCheckpoint {

  /** The last checkpoint if it has this policy, or why it cannot be used. */
  def of(handle: DeltaHandle, policy: Policy): Either[String, LastCheckpoint] =
    (of(handle, handle.snapshot.checkpointProvider), policy) match {
      case (Some(v2: LastV2Checkpoint), Policy.V2) => Right(v2)
      case (Some(classic: LastClassicCheckpoint), Policy.Classic) => Right(classic)
      case (Some(_), _) => Left("the last checkpoint has another policy")
      case (None, _) => Left("there is no earlier checkpoint")
    }

  /** A checkpoint by its files; None if there are none. */
  private def of(handle: DeltaHandle, checkpoint: CheckpointProvider): Option[LastCheckpoint] =
    CheckpointFiles.complete(checkpoint) match {
      case v2: V2CheckpointProvider => Some(new LastV2Checkpoint(handle, v2))
      case classic: PreloadedCheckpointProvider => Some(new LastClassicCheckpoint(handle, classic))
      case _ => None
    }

  /** What `_last_checkpoint` should say of the existing checkpoint of a version. Reads its footers. */
  def info(handle: DeltaHandle, version: Long): Option[LastCheckpointInfo] =
    for {
      instance <- handle.snapshot.deltaLog.findLastCompleteCheckpointBefore(version + 1)
      if instance.version == version
      provider = CheckpointFiles.checkpoint(handle, filesOf(handle, instance))
      checkpoint <- of(handle, provider)
      files = (provider.topLevelFiles ++ checkpoint.files).distinctBy(_.getPath)
    } yield LastCheckpointInfo(
      version = instance.version,
      size = checkpoint.size,
      parts = instance.numParts,
      sizeInBytes = Some(files.map(_.getLen).sum),
      numOfAddFiles = Some(checkpoint.adds),
      checkpointSchema = None,
      v2Checkpoint = Option.when(instance.format == CheckpointInstance.Format.V2) {
        LastCheckpointV2(provider.topLevelFiles.head)
      }
    )

  private def filesOf(handle: DeltaHandle, instance: CheckpointInstance): Seq[FileStatus] = {
    val store = handle.snapshot.deltaLog.store
    val version = instance.version
    CheckpointFiles.topLevel(
      instance,
      ListedLog.between(store, handle.logPath, handle.hadoopConf, version, version).toSeq
    )
  }
}

/** Its fragments are its sidecars. */
private final class LastV2Checkpoint(handle: DeltaHandle, provider: V2CheckpointProvider)
    extends LastCheckpoint(handle) {

  override val files: Seq[FileStatus] = provider.sidecarFileStatuses

  override def size: Long = eachFooter(_.rows).sum + nonFileActions.fold(_ => 0, _.size)

  override protected def fragmentsOf(footer: CheckpointFooter): Seq[Fragment] = Seq(footer.whole)

  override protected def obstacleOfFiles: Option[String] = {
    val age = handle.now - provider.v2CheckpointFile.getModificationTime
    // A concurrent cleanup may delete the sidecars of an expired checkpoint.
    if (age >= handle.facts.logRetentionMs) Some("the last checkpoint has expired")
    // A checkpoint refers to its sidecars by name only.
    else if (files.exists(file => DeltaLogReader.isElsewhere(handle, file.getPath)))
      Some("the last checkpoint has sidecars outside their directory")
    else None
  }

  override protected def obstacleIn(checkpointSchema: CheckpointSchema): CheckpointFooter => Option[String] =
    footer =>
      Option.unless(footer.hasStatistics)("sidecars of the last checkpoint have no statistics as JSON")

  private lazy val (others, filesOutside) = {
    val topLevel = provider.v2CheckpointFile
    if (CheckpointFiles.isJson(topLevel))
      new DeltaLogReader(handle)
        .actions(topLevel.getPath)
        .filter(_ != null)
        .partition(!_.isInstanceOf[FileAction])
    else {
      (
        NonFileActions.in(Seq(topLevel), session, conf),
        CheckpointFooter.read(topLevel, conf)(footer => Seq(footer.whole).filter(_.actions > 0))
      )
    }
  }

  override def nonFileActions: Either[String, Seq[Action]] =
    if (filesOutside.nonEmpty) Left("the last checkpoint has files outside its sidecars")
    else Right(others)
}

/** Its fragments are the row groups of its parts. */
private final class LastClassicCheckpoint(handle: DeltaHandle, provider: PreloadedCheckpointProvider)
    extends LastCheckpoint(handle) {

  override val files: Seq[FileStatus] = provider.topLevelFiles

  override def size: Long = eachFooter(_.rows).sum

  override protected def fragmentsOf(footer: CheckpointFooter): Seq[Fragment] = footer.rowGroups

  override protected def obstacleOfFiles: Option[String] = None

  override protected def obstacleIn(checkpointSchema: CheckpointSchema)
      : CheckpointFooter => Option[String] = {
    val schema = checkpointSchema.parquetSchema
    footer => {
      // Dates and times that old versions of Spark wrote would have to be marked as such.
      val isSame = footer.schema == schema &&
        !footer.keyValues.keys.exists(_.startsWith("org.apache.spark.legacy"))
      Option.unless(isSame)("the last checkpoint has other columns")
    }
  }

  override def nonFileActions: Either[String, Seq[Action]] =
    Right(NonFileActions.in(files, session, conf))
}
