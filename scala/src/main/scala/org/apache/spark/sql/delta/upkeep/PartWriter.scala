package org.apache.spark.sql.delta.upkeep

import java.util.UUID

import scala.collection.mutable

import io.deltaupkeep.checkpoint.Fragment

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.Job

import org.apache.spark.TaskContext
import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{encoderFor, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.Checkpoints
import org.apache.spark.sql.delta.actions.{Action, DomainMetadata, Metadata, Protocol, SetTransaction}
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** What the files of a job are. */
private[upkeep] sealed trait PartKind

private[upkeep] object PartKind {

  /** File actions alone; other actions come back to the driver. */
  case object Sidecar extends PartKind

  /** Row groups of a classic checkpoint to be, in files that do not stay; other actions come back too. */
  final case class RowGroups(temporary: TemporaryFiles) extends PartKind

  /** The row group for the actions that came back. */
  final case class Others(temporary: TemporaryFiles) extends PartKind

  /** One part each of a classic checkpoint, with all actions. */
  final case class Part(parts: Int) extends PartKind
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
  import PartWriter._

  private val snapshot = handle.snapshot

  /**
   * Writes each partition to a file, in one Spark job.
   *
   * @param actions       with the columns of [[CheckpointShape]]
   * @param actionsOfPart in each partition, about
   */
  def write(actions: DataFrame, kind: PartKind, actionsOfPart: Long): WrittenParts = {
    val shaped = shape(actions)
    val all = shape.schema
    val isSidecar = kind == PartKind.Sidecar
    val holdsAll = kind match {
      case PartKind.Sidecar | _: PartKind.RowGroups => false
      case _: PartKind.Part | _: PartKind.Others => true
    }
    val schema = if (isSidecar) shape.sidecarSchema else all
    val job = Job.getInstance(confWithFilters(actionsOfPart))
    val factory = new ParquetFileFormat().prepareWrite(session, job, Map.empty, schema)
    val conf = new SerializableConfiguration(job.getConfiguration)
    val useRename = snapshot.deltaLog.store.isPartialWriteVisible(handle.logPath, conf.value)
    val names = nameFor(kind, handle.logPath, snapshot.version, useRename)
    val (add, remove) = (all.fieldIndex("add"), all.fieldIndex("remove"))
    val (addFields, removeFields) = (fieldsOf(all, "add"), fieldsOf(all, "remove"))
    val query = shaped.queryExecution
    val results = SQLExecution.withNewExecutionId(query, Some(s"CHECKPOINT ${handle.name}")) {
      query.executedPlan
        .execute()
        .mapPartitions { rows =>
          val others = mutable.ArrayBuffer.empty[InternalRow]
          def isFileAction(row: InternalRow) = !row.isNullAt(add) || !row.isNullAt(remove)
          def asSidecarRow(row: InternalRow): InternalRow = new GenericInternalRow(Array[Any](
            if (row.isNullAt(add)) null else row.getStruct(add, addFields),
            if (row.isNullAt(remove)) null else row.getStruct(remove, removeFields)
          ))
          def onlyFiles = rows.filter { row =>
            val isFile = isFileAction(row)
            if (!isFile) others += row.copy()
            isFile
          }
          val toWrite = if (holdsAll) rows else if (isSidecar) onlyFiles.map(asSidecarRow) else onlyFiles
          val part = TaskContext.getPartitionId()
          // Of parts none may be missing.
          val file = Option.when(holdsAll || toWrite.hasNext) {
            val name = names(conf.value, part)
            Checkpoints.writeSingleFileOnExecutor(
              conf.value,
              factory,
              schema,
              name.writePath,
              name.finalPath,
              name.useRename,
              part,
              TaskContext.get().numPartitions(),
              toWrite,
              runWriteInNewThreadOnGCS = true
            )
          }
          Iterator((file, others.toArray))
        }
        .collect()
    }
    val files = results.toSeq.flatMap(_._1).map(_.toFileStatus)
    kind match {
      case PartKind.RowGroups(temporary) => files.foreach(file => temporary.add(file.getPath))
      case PartKind.Others(temporary) => files.foreach(file => temporary.add(file.getPath))
      case _ =>
    }
    val fragments = files.map(file => CheckpointFooter.read(file, conf.value)(_.whole) -> file)
    WrittenParts(fragments, OtherActions.of(results.toSeq.flatMap(_._2), all))
  }

  private def confWithFilters(actionsOfPart: Long): Configuration = {
    val conf = handle.hadoopConf
    CheckpointFooter.bloomFilters(actionsOfPart).foreach { case (key, value) => conf.set(key, value) }
    conf
  }
}

private[upkeep] object PartWriter {

  private def fieldsOf(schema: StructType, column: String): Int =
    schema(column).dataType.asInstanceOf[StructType].size

  private final case class Name(writePath: Path, finalPath: Path, useRename: Boolean)

  /** Called in a task, so that no two attempts write the same file. */
  private def nameFor(
      kind: PartKind,
      log: Path,
      version: Long,
      useRename: Boolean
  ): (Configuration, Int) => Name = {
    val logUri = log.toUri
    def deltaName(parts: Int, isSidecar: Boolean)(conf: Configuration, part: Int): Name = {
      val (writePath, finalPath) = Checkpoints.getCheckpointWritePath(
        conf,
        new Path(logUri),
        version,
        parts,
        part,
        useRename,
        v2CheckpointEnabled = isSidecar
      )
      Name(writePath, finalPath, useRename)
    }
    kind match {
      case PartKind.Sidecar => deltaName(parts = 1, isSidecar = true)
      case PartKind.Part(parts) => deltaName(parts, isSidecar = false)
      case PartKind.RowGroups(temporary) => temporaryName(temporary.stem)
      case PartKind.Others(temporary) => temporaryName(temporary.stem)
    }
  }

  private def temporaryName(stem: String)(conf: Configuration, part: Int): Name = {
    val path = new Path(s"$stem-$part-${UUID.randomUUID}${TemporaryFiles.End}")
    DeltaFileOperations.registerTempFileDeletionTaskFailureListener(conf, path)
    Name(path, path, useRename = false)
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
