package org.apache.spark.sql.delta.upkeep

import io.deltaupkeep.checkpoint.Fragment

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.mapreduce.Job

import org.apache.spark.TaskContext
import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{encoderFor, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.actions.{Action, DomainMetadata, Metadata, Protocol, SetTransaction}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** What the files are that actions are written to. */
private[upkeep] sealed abstract class PartKind(val contents: PartContents)

private[upkeep] object PartKind {

  /** File actions alone; other actions come back to the driver. */
  case object Sidecar extends PartKind(PartContents.FileColumns)

  /** Row groups of a classic checkpoint to be, in files that do not stay; other actions come back too. */
  final case class RowGroups(temporary: TemporaryFiles) extends PartKind(PartContents.FileActions)

  /** The same with all actions: a part of a checkpoint to be, or the row group of those that came back. */
  final case class AllActions(temporary: TemporaryFiles) extends PartKind(PartContents.All)
}

/**
 * Files as they were written.
 *
 * @param fragments each a whole file, counted by its footer
 * @param others    actions about no file that the files do not hold
 */
private[upkeep] final case class WrittenParts(fragments: Seq[(Fragment, FileStatus)], others: Seq[Action])

/** Writes the actions of a checkpoint to Parquet files, in which a later one finds the files that they name. */
private[upkeep] final class PartWriter(handle: DeltaHandle, session: ClassicSession, shape: CheckpointShape) {
  private val snapshot = handle.snapshot

  /**
   * Writes each partition to a file: in one Spark job, or on the driver where the actions are there already.
   *
   * @param actions       with the columns of [[CheckpointShape]]
   * @param actionsOfPart in each partition, about
   */
  def write(actions: DataFrame, kind: PartKind, actionsOfPart: Long): WrittenParts = {
    val shaped = shape(actions)
    val stored = if (kind == PartKind.Sidecar) shape.sidecarSchema else shape.schema
    val job = Job.getInstance(confWithFilters(actionsOfPart))
    val factory = new ParquetFileFormat().prepareWrite(session, job, Map.empty, stored)
    val conf = new SerializableConfiguration(job.getConfiguration)
    val task = new PartTask(placeOf(kind), kind.contents, shape.schema, stored, factory, conf)
    val query = shaped.queryExecution
    val results = query.optimizedPlan match {
      case Project(columns, local: LocalRelation) =>
        val project = UnsafeProjection.create(columns, local.output)
        Seq(task.write(0, 1, local.data.iterator.map(project)))
      case _ => SQLExecution.withNewExecutionId(query, Some(s"CHECKPOINT ${handle.name}")) {
          query.executedPlan
            .execute()
            .mapPartitions { rows =>
              Iterator(task.write(TaskContext.getPartitionId(), TaskContext.get().numPartitions(), rows))
            }
            .collect()
            .toSeq
        }
    }
    val files = results.flatMap(_.file).map(_.toFileStatus)
    kind match {
      case PartKind.RowGroups(temporary) => files.foreach(file => temporary.add(file.getPath))
      case PartKind.AllActions(temporary) => files.foreach(file => temporary.add(file.getPath))
      case PartKind.Sidecar =>
    }
    val fragments =
      CheckpointFooter.readAll(files, conf.value)(footer => footer.summed(footer.whole)).zip(files)
    WrittenParts(fragments, OtherActions.of(results.flatMap(_.others), shape.schema))
  }

  private def placeOf(kind: PartKind): PartPlace = kind match {
    case PartKind.Sidecar => PartPlace.Sidecar(handle.logPath.toUri, snapshot.version)
    case PartKind.RowGroups(temporary) => PartPlace.Temporary(temporary.stem)
    case PartKind.AllActions(temporary) => PartPlace.Temporary(temporary.stem)
  }

  private def confWithFilters(actionsOfPart: Long): Configuration = {
    val conf = handle.hadoopConf
    CheckpointFooter.bloomFilters(actionsOfPart).foreach { case (key, value) => conf.set(key, value) }
    conf
  }
}

/** The actions of a row that is about no file; one of them is there. */
private[upkeep] final case class OtherActions(
    txn: SetTransaction,
    metaData: Metadata,
    protocol: Protocol,
    domainMetadata: DomainMetadata
) {
  def action: Action = Seq(txn, metaData, protocol, domainMetadata).find(_ != null).orNull
}

private[upkeep] object OtherActions {

  private val encoder: ExpressionEncoder[OtherActions] = encoderFor(Encoders.product[OtherActions])

  /** Those of rows in Spark's own form. */
  def of(rows: Seq[InternalRow], schema: StructType): Seq[Action] =
    if (rows.isEmpty) Nil
    else {
      val read = encoder.resolveAndBind(DataTypeUtils.toAttributes(schema)).createDeserializer()
      rows.map(read(_).action)
    }

  /** Those of files of a checkpoint, with the columns of Delta's log. */
  def in(actions: DataFrame): Seq[Action] =
    actions
      .select("txn", "metaData", "protocol", "domainMetadata")
      .where(
        "txn.appId is not null or metaData.id is not null or protocol.minReaderVersion is not null " +
          "or domainMetadata.domain is not null"
      )
      .as[OtherActions](encoder)
      .collect()
      .toSeq
      .map(_.action)
}
