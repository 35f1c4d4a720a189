package org.apache.spark.sql.delta.upkeep

import io.deltaupkeep.checkpoint.{Fragment, Policy}
import io.deltaupkeep.parquet.{RowGroupJoiner, RowGroupsOf}

import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.hadoop.util.{HadoopInputFile, HadoopOutputFile}

import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.CheckpointProvider
import org.apache.spark.sql.delta.actions.{Action, DeletionVectorDescriptor}
import org.apache.spark.sql.functions.{broadcast, coalesce, col, lit}

/**
 * The last checkpoint of a table and what happened since, for one that builds on it.
 *
 * @param fragments of the last checkpoint
 */
private[upkeep] final class CheckpointBase private (
    handle: DeltaHandle,
    files: Map[String, FileStatus],
    val tail: LogTail,
    val fragments: Seq[Fragment]
) {
  import CheckpointBase._

  def file(fragment: Fragment): FileStatus = files(fragment.file)

  /** The file actions of some fragments and of the commits since, one for each file, in some partitions. */
  def fileActions(
      session: ClassicSession,
      replaced: Seq[Fragment],
      parts: Int,
      temporary: TemporaryFiles
  ): DataFrame = {
    val changes = session.createDataset(tail.fileActions.map(_.wrap)).toDF()
    val all = changes.select(columns: _*).union(survivors(session, replaced, temporary))
    if (parts > 1) all.repartition(parts, coalesce(col("add.path"), col("remove.path")))
    else all.coalesce(1)
  }

  private def survivors(
      session: ClassicSession,
      replaced: Seq[Fragment],
      temporary: TemporaryFiles
  ): DataFrame = {
    val index = CheckpointProvider.checkpointFileIndex(alone(replaced, temporary))
    val keys = session
      .createDataset(tail.touched.toSeq.map(key => (key.path, key.deletionVector.orNull)))(KeyEncoder)
      .toDF("touchedPath", "touchedVector")
    val before = handle.snapshot.deltaLog.loadIndex(index, Action.logSchema)
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
      .where(col("add.path").isNotNull || col("remove.deletionTimestamp") > unexpired)
      .join(broadcast(keys), isTouched, "left_anti")
      .select(columns: _*)
  }

  /** Files that hold these fragments and no others. */
  private def alone(replaced: Seq[Fragment], temporary: TemporaryFiles): Seq[FileStatus] = {
    val conf = handle.hadoopConf
    replaced.groupBy(_.file).toSeq.map { case (name, ofFile) =>
      if (ofFile.size == fragments.count(_.file == name)) files(name)
      else {
        val path = temporary.newPath()
        val rowGroups =
          RowGroupsOf(HadoopInputFile.fromStatus(files(name), conf), Some(ofFile.flatMap(_.rowGroup).sorted))
        RowGroupJoiner.join(Seq(rowGroups), HadoopOutputFile.fromPath(path, conf))
        path.getFileSystem(conf).getFileStatus(path)
      }
    }
  }
}

private[upkeep] object CheckpointBase {

  private val KeyEncoder: Encoder[(String, String)] = Encoders.tuple(Encoders.STRING, Encoders.STRING)

  /** Those of a checkpoint, without actions that are about no file. */
  private val columns = CheckpointShape.Columns.map { name =>
    if (name == "add" || name == "remove") col(name)
    else lit(null).cast(Action.logSchema(name).dataType).as(name)
  }

  /** The base of a new checkpoint of a policy, or why there is none. */
  def of(handle: DeltaHandle, policy: Policy, shape: => CheckpointShape): Either[String, CheckpointBase] =
    for {
      last <- LastCheckpoint.of(handle, policy)
      _ <- last.obstacle(shape).toLeft(())
      others <- last.otherActions
      tail <- LogTail.read(handle, others)
      fragments = last.fragments(tail.touched.map(_.path))
    } yield {
      val files = last.files.map(file => file.getPath.getName -> file).toMap
      new CheckpointBase(handle, files, tail, fragments)
    }
}
