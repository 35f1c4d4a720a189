package org.apache.spark.sql.delta.upkeep.log

import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.actions.{
  Action,
  AddFile,
  CheckpointMetadata,
  DomainMetadata,
  Metadata,
  Protocol,
  SetTransaction
}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * What the files of a checkpoint hold, counted.
 *
 * @param actions        of all files
 * @param sidecarActions of the sidecars
 * @param isJson         whether the top-level file is in JSON
 * @param checkpointMetadata of a top-level file in JSON
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
    checkpointMetadata: Option[CheckpointMetadata],
    readOthers: () => Seq[Action]
) {

  /** Read from Parquet files when they are asked for. */
  lazy val nonFileActions: Seq[Action] = readOthers()

  /** The number of files that it says it holds. */
  def addsByItself: Option[Long] = tag("numOfAddFiles")

  /** The number of actions that it says its sidecars hold. */
  def sidecarActionsByItself: Option[Long] = tag("sidecarNumActions")

  private def tag(name: String): Option[Long] =
    checkpointMetadata.flatMap(metadata => Option(metadata.tags)).flatMap(_.get(name)).flatMap(_.toLongOption)
}

private[upkeep] object CheckpointContent {

  /** Reads the footers, and a top-level file in JSON. */
  def of(handle: DeltaHandle, topLevel: Seq[FileStatus], sidecars: Seq[FileStatus]): CheckpointContent = {
    val (inJson, inParquet) = topLevel.partition(_.getPath.getName.endsWith(".json"))
    val lines = inJson.flatMap(file => new DeltaLogReader(handle).actions(file.getPath)).filter(_ != null)
    val counts = CheckpointFooter.readAll(inParquet ++ sidecars, handle.hadoopConf)(Counts.of)
    val all = counts.fold(Counts.of(lines))(_ + _)
    new CheckpointContent(
      all.actions,
      all.adds,
      counts.drop(inParquet.size).map(_.actions).sum,
      all.protocols,
      all.metadata,
      all.txns,
      all.domains,
      inJson.nonEmpty,
      lines.collectFirst { case metadata: CheckpointMetadata => metadata },
      () =>
        lines ++ NonFileActions.in(inParquet, handle.session.asInstanceOf[ClassicSession], handle.hadoopConf)
    )
  }

  private final case class Counts(
      actions: Long,
      adds: Long,
      protocols: Long,
      metadata: Long,
      txns: Long,
      domains: Long
  ) {
    def +(other: Counts): Counts = Counts(
      actions + other.actions,
      adds + other.adds,
      protocols + other.protocols,
      metadata + other.metadata,
      txns + other.txns,
      domains + other.domains
    )
  }

  private object Counts {

    def of(footer: CheckpointFooter): Counts = Counts(
      footer.rows,
      footer.count("add.path"),
      footer.count("protocol.minReaderVersion"),
      footer.count("metaData.id"),
      footer.count("txn.appId"),
      footer.count("domainMetadata.domain")
    )

    def of(actions: Seq[Action]): Counts = Counts(
      actions.size.toLong,
      actions.count(_.isInstanceOf[AddFile]).toLong,
      actions.count(_.isInstanceOf[Protocol]).toLong,
      actions.count(_.isInstanceOf[Metadata]).toLong,
      actions.count(_.isInstanceOf[SetTransaction]).toLong,
      actions.count(_.isInstanceOf[DomainMetadata]).toLong
    )
  }
}
