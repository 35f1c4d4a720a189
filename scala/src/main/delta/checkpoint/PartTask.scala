package org.apache.spark.sql.delta.upkeep.checkpoint

import java.net.URI
import java.util.UUID

import scala.collection.mutable

import io.deltaupkeep.Uninterrupted

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{TaskAttemptID, TaskType}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.delta.{Checkpoints, SerializableFileStatus}
import org.apache.spark.sql.delta.util.{DeltaFileOperations, FileNames}
import org.apache.spark.sql.execution.datasources.OutputWriterFactory
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/**
 * Where a part is written. Each attempt asks for a path, so no two write the same file. Readers do not see it
 * yet.
 */
private[upkeep] sealed trait PartPlace extends Serializable {
  def path(conf: Configuration, part: Int): Path
}

private[upkeep] object PartPlace {

  final case class Sidecar(log: URI, version: Long) extends PartPlace {
    override def path(conf: Configuration, part: Int): Path =
      FileNames.newV2CheckpointSidecarFile(new Path(log), version, numParts = 1, part + 1)
  }

  final case class Temporary(stem: String) extends PartPlace {
    override def path(conf: Configuration, part: Int): Path = {
      val path = new Path(s"$stem-$part-${UUID.randomUUID}${TemporaryFiles.End}")
      if (TaskContext.get() != null)
        DeltaFileOperations.registerTempFileDeletionTaskFailureListener(conf, path)
      path
    }
  }
}

/**
 * Writes the rows of a partition to a file.
 *
 * @param actions   schema of the rows
 * @param contents  which of them the file holds
 */
private[upkeep] final class PartTask(
    place: PartPlace,
    contents: PartContents,
    actions: StructType,
    stored: StructType,
    factory: OutputWriterFactory,
    conf: SerializableConfiguration
) extends Serializable {

  private val add = actions.fieldIndex("add")
  private val remove = actions.fieldIndex("remove")
  private val addFields = fieldsOf(add)
  private val removeFields = fieldsOf(remove)

  private def fieldsOf(column: Int): Int = actions(column).dataType.asInstanceOf[StructType].size

  def write(part: Int, rows: Iterator[InternalRow]): PartResult = {
    val others = mutable.ArrayBuffer.empty[InternalRow]
    def fileActions = rows.filter { row =>
      val isFileAction = !row.isNullAt(add) || !row.isNullAt(remove)
      if (!isFileAction) others += row.copy()
      isFileAction
    }
    val toWrite = contents match {
      case PartContents.All => rows
      case PartContents.FileActions => fileActions
      case PartContents.FileColumns => fileActions.map(fileColumns)
    }
    // No part of a checkpoint may be missing.
    val file = Option.when(contents == PartContents.All || toWrite.hasNext) {
      val path = place.path(conf.value, part)
      // The store publishes half a file if its writer is interrupted.
      if (Checkpoints.isGCSPath(conf.value, path)) Uninterrupted(writeFile(path, part, toWrite))
      else writeFile(path, part, toWrite)
      SerializableFileStatus.fromStatus(path.getFileSystem(conf.value).getFileStatus(path))
    }
    PartResult(file, others.toArray)
  }

  private def writeFile(path: Path, part: Int, rows: Iterator[InternalRow]): Unit = {
    val attempt = new TaskAttemptID("", 0, TaskType.REDUCE, part, 0)
    val writer = factory.newInstance(path.toString, stored, new TaskAttemptContextImpl(conf.value, attempt))
    rows.foreach(writer.write)
    // Not after a failure: closing would publish the rows written so far.
    writer.close()
  }

  private def fileColumns(row: InternalRow): InternalRow = new GenericInternalRow(Array[Any](
    if (row.isNullAt(add)) null else row.getStruct(add, addFields),
    if (row.isNullAt(remove)) null else row.getStruct(remove, removeFields)
  ))
}

/** Which rows a file holds. The others are returned. */
private[upkeep] sealed trait PartContents

private[upkeep] object PartContents {
  case object All extends PartContents
  case object FileActions extends PartContents

  /** File actions, and only the columns `add` and `remove`. */
  case object FileColumns extends PartContents
}

private[upkeep] final case class PartResult(file: Option[SerializableFileStatus], others: Array[InternalRow])
