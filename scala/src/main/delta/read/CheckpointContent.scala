package org.apache.spark.sql.delta.upkeep.read

import scala.util.Try

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.CheckpointInstance
import org.apache.spark.sql.delta.actions.{
  Action,
  AddFile,
  CheckpointMetadata,
  DomainMetadata,
  Metadata,
  Protocol,
  SetTransaction
}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.types.DataType

/**
 * What the files of a checkpoint hold, counted.
 *
 * @param actions        of all files
 * @param sidecarActions of the sidecars
 * @param isJson         whether the top-level file is JSON
 * @param hasItsForm     whether a file with a v2 name has the action that the spec requires
 * @param checkpointMetadata of a top-level JSON file
 */
private[upkeep] final class CheckpointContent private (
    val actions: Long,
    val adds: Long,
    val sidecarActions: Long,
    val protocols: Long,
    val metadata: Long,
    val txns: Long,
    val domains: Long,
    val isJson: Boolean,
    val hasItsForm: Boolean,
    checkpointMetadata: Option[CheckpointMetadata],
    readOthers: () => Seq[Action]
) {

  /** Read from Parquet files on demand. */
  lazy val nonFileActions: Seq[Action] = readOthers()

  /** The number of files that it claims to hold. */
  def addsByItself: Option[Long] = tag("numOfAddFiles")

  /** The number of actions that it claims for its sidecars. */
  def sidecarActionsByItself: Option[Long] = tag("sidecarNumActions")

  /** Whether the schema that it gives for its sidecars is valid. Readers without `_last_checkpoint` need it. */
  def hasSidecarSchema: Boolean =
    text("sidecarFileSchema").forall(json => Try(DataType.fromJson(json)).isSuccess)

  private def tag(name: String): Option[Long] = text(name).flatMap(_.toLongOption)

  private def text(tag: String): Option[String] =
    checkpointMetadata.flatMap(metadata => Option(metadata.tags)).flatMap(_.get(tag))
}

private[upkeep] object CheckpointContent {

  /**
   * Reads the footers, and a top-level JSON file.
   *
   * @param sidecars not evaluated if the top-level file lacks its form: Delta cannot list them then
   */
  def of(handle: DeltaHandle, topLevel: Seq[FileStatus], sidecars: => Seq[FileStatus]): CheckpointContent = {
    val (inJson, inParquet) = topLevel.partition(CheckpointFiles.isJson)
    val lines = inJson.flatMap(file => new DeltaLogReader(handle).actions(file.getPath)).filter(_ != null)
    def countsOf(files: Seq[FileStatus]) = CheckpointFooter.readAll(files, handle.hadoopConf)(Counts.of)
    val atTop = countsOf(inParquet).fold(Counts.of(lines))(_ + _)
    val hasItsForm = atTop.checkpointMetadata == 1 || !topLevel.exists(hasNameOfV2)
    val below = if (hasItsForm) countsOf(sidecars) else Nil
    val all = below.fold(atTop)(_ + _)
    new CheckpointContent(
      all.actions,
      all.adds,
      below.map(_.actions).sum,
      all.protocols,
      all.metadata,
      all.txns,
      all.domains,
      inJson.nonEmpty,
      hasItsForm,
      lines.collectFirst { case metadata: CheckpointMetadata => metadata },
      () =>
        lines ++ NonFileActions.in(inParquet, handle.session, handle.hadoopConf)
    )
  }

  private def hasNameOfV2(file: FileStatus): Boolean =
    CheckpointInstance(file.getPath).format == CheckpointInstance.Format.V2

  private final case class Counts(
      actions: Long,
      adds: Long,
      protocols: Long,
      metadata: Long,
      txns: Long,
      domains: Long,
      checkpointMetadata: Long
  ) {
    def +(other: Counts): Counts = Counts(
      actions + other.actions,
      adds + other.adds,
      protocols + other.protocols,
      metadata + other.metadata,
      txns + other.txns,
      domains + other.domains,
      checkpointMetadata + other.checkpointMetadata
    )
  }

  private object Counts {

    def of(footer: CheckpointFooter): Counts = Counts(
      footer.rows,
      footer.count("add.path"),
      footer.count("protocol.minReaderVersion"),
      footer.count("metaData.id"),
      footer.count("txn.appId"),
      footer.count("domainMetadata.domain"),
      footer.count("checkpointMetadata.version")
    )

    def of(actions: Seq[Action]): Counts = Counts(
      actions.size.toLong,
      actions.count(_.isInstanceOf[AddFile]).toLong,
      actions.count(_.isInstanceOf[Protocol]).toLong,
      actions.count(_.isInstanceOf[Metadata]).toLong,
      actions.count(_.isInstanceOf[SetTransaction]).toLong,
      actions.count(_.isInstanceOf[DomainMetadata]).toLong,
      actions.count(_.isInstanceOf[CheckpointMetadata]).toLong
    )
  }
}
