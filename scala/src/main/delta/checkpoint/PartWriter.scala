package org.apache.spark.sql.delta.upkeep.checkpoint

import io.deltaupkeep.plan.checkpoint.Fragment

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.hadoop.mapreduce.Job
import org.apache.parquet.hadoop.ParquetOutputFormat

import org.apache.spark.sql.delta.upkeep.read.{CheckpointFooter, CheckpointSchema, NonFileActions}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.state.SummingWriteSupport
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.TaskContext
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.util.SerializableConfiguration

/** Rows to write. Each is valid until the next one. */
private[upkeep] trait RowSource {
  def foreach(use: InternalRow => Unit): Unit
}

/** The kinds of files to which actions are written. */
private[upkeep] sealed abstract class PartKind(val contents: PartContents) {
  def isRowGroups: Boolean = contents == PartContents.FileActions
}

private[upkeep] object PartKind {

  /** File actions only; non-file actions are returned to the driver. */
  case object Sidecar extends PartKind(PartContents.FileColumns)

  /** Row groups for a classic checkpoint; the driver adds the non-file actions. */
  final case class RowGroups(temporary: TemporaryFiles) extends PartKind(PartContents.FileActions)

  /** A part of a classic checkpoint, with all actions. */
  final case class AllActions(temporary: TemporaryFiles) extends PartKind(PartContents.All)
}

/**
 * The files that were written.
 *
 * @param fragments counted from the footers of their files
 * @param others    non-file actions
 */
private[upkeep] final case class WrittenParts(fragments: Seq[(Fragment, FileStatus)], others: Seq[Action])

/**
 * Writes the actions of a checkpoint to Parquet files with Bloom filters, which tell a later checkpoint
 * which files they name.
 */
private[upkeep] final class PartWriter(
    handle: DeltaHandle,
    session: ClassicSession,
    checkpointSchema: CheckpointSchema
) {
  private val snapshot = handle.snapshot

  /** For actions that are on the driver already, or can be read there. */
  def onDriver(kind: PartKind, actionsOfPart: Long): DriverParts =
    new DriverParts(handle, session, checkpointSchema, kind, placeOf(kind), actionsOfPart)

  /**
   * Writes actions on the driver.
   *
   * @param sources of rows, shared by the threads
   * @param others  non-file actions, which sidecars do not hold
   */
  def write(
      kind: PartKind,
      actionsOfPart: Long,
      sources: Seq[RowSource],
      others: Seq[Action]
  ): WrittenParts = {
    val files = onDriver(kind, actionsOfPart).fill(sources.size) { writer => i =>
      sources(i).foreach(writer.write)
    }(others)
    written(kind, files, others)
  }

  /**
   * Writes each partition to a file, in one Spark job.
   *
   * @param actions       with the columns of [[CheckpointSchema]]
   * @param actionsOfPart approximate number of actions in each partition
   */
  def write(actions: DataFrame, kind: PartKind, actionsOfPart: Long): WrittenParts = {
    val shaped = checkpointSchema(actions)
    val isSidecar = kind == PartKind.Sidecar
    val stored = if (isSidecar) checkpointSchema.sidecarSchema else checkpointSchema.schema
    val job = Job.getInstance(confWithFilters(actionsOfPart))
    val factory = new ParquetFileFormat().prepareWrite(session, job, Map.empty, stored)
    if (isSidecar) ParquetOutputFormat.setWriteSupportClass(job, classOf[SummingWriteSupport])
    val conf = new SerializableConfiguration(job.getConfiguration)
    val task = new PartTask(placeOf(kind), kind.contents, checkpointSchema.schema, stored, factory, conf)
    val query = shaped.queryExecution
    val results = SQLExecution.withNewExecutionId(query, Some(s"CHECKPOINT ${handle.name}")) {
      query.executedPlan
        .execute()
        .mapPartitions { rows =>
          Iterator(task.write(TaskContext.getPartitionId(), rows))
        }
        .collect()
        .toSeq
    }
    val files = results.flatMap(_.file).map(_.toFileStatus)
    written(kind, files, NonFileActions.of(results.flatMap(_.others), checkpointSchema.schema))
  }

  /** The fragments of the written files, from their footers. */
  def written(kind: PartKind, files: Seq[FileStatus], others: Seq[Action]): WrittenParts = {
    kind match {
      case PartKind.RowGroups(temporary) => files.foreach(file => temporary.add(file.getPath))
      case PartKind.AllActions(temporary) => files.foreach(file => temporary.add(file.getPath))
      case PartKind.Sidecar =>
    }
    val fragments = CheckpointFooter.readAll(files, handle.hadoopConf) { footer =>
      val found = if (kind.isRowGroups) footer.rowGroups else Seq(footer.whole)
      found.map(footer.measured)
    }
    WrittenParts(files.zip(fragments).flatMap { case (file, found) => found.map(_ -> file) }, others)
  }

  private def placeOf(kind: PartKind): PartPlace = kind match {
    case PartKind.Sidecar => PartPlace.Sidecar(handle.logPath.toUri, snapshot.version)
    case PartKind.RowGroups(temporary) => PartPlace.Temporary(temporary.stem)
    case PartKind.AllActions(temporary) => PartPlace.Temporary(temporary.stem)
  }

  private def confWithFilters(actionsOfPart: Long): Configuration = {
    val conf = new Configuration(handle.hadoopConf)
    CheckpointFooter.bloomFilters(actionsOfPart).foreach { case (key, value) => conf.set(key, value) }
    conf
  }
}
