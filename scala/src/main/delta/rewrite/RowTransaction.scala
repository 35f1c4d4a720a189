package org.apache.spark.sql.delta.upkeep.rewrite

import scala.collection.mutable

import io.deltaupkeep.store.NewFiles

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{JobContext, TaskAttemptContext}

import org.apache.spark.TaskContext
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.FileAction
import org.apache.spark.sql.delta.files.DelayedCommitProtocol
import org.apache.spark.sql.delta.upkeep.spark.TaskAttempts
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}
import org.apache.spark.sql.delta.util.DeltaFileOperations

/**
 * Writes files as Delta does, and removes those of a failed job, which Delta leaves to VACUUM. It commits
 * nothing: the transaction of an OPTIMIZE does that.
 */
private[upkeep] final class RowTransaction(handle: DeltaHandle)
    extends OptimisticTransaction(handle.snapshot.deltaLog, handle.table.catalogTable, handle.snapshot) {

  override protected def getCommitter(outputPath: Path): DelayedCommitProtocol =
    new RemovingCommitProtocol(
      outputPath.toString,
      Partitions.randomPrefixLength(metadata),
      deltaDataSubdir
    )
}

/** Delta's commit protocol, with the two steps that it leaves empty. */
private final class RemovingCommitProtocol(path: String, prefix: Option[Int], below: Option[String])
    extends DelayedCommitProtocol("delta", path, prefix, below) {

  /** The files of tasks that succeeded. Only the driver has them. */
  @transient private lazy val written = mutable.ArrayBuffer.empty[String]

  override def onTaskCommit(message: TaskCommitMessage): Unit = written.synchronized {
    written ++= message.obj.asInstanceOf[Seq[FileAction]].map(_.path)
    ()
  }

  override def abortJob(context: JobContext): Unit =
    written.synchronized(remove(written.toSeq, context.getConfiguration))

  override def commitTask(context: TaskAttemptContext): TaskCommitMessage = {
    TaskAttempts.stopIfKilled(TaskContext.get())
    super.commitTask(context)
  }

  override def abortTask(context: TaskAttemptContext): Unit =
    remove(addedFiles.map(_._2).toSeq, context.getConfiguration)

  private def remove(files: Seq[String], conf: Configuration): Unit =
    NewFiles.remove(files.map(DeltaFileOperations.absolutePath(path, _)), conf)
}
