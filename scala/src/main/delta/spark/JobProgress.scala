package org.apache.spark.sql.delta.upkeep.spark

import org.apache.spark.{JobExecutionStatus, TaskContext}
import org.apache.spark.sql.SparkSession

/**
 * The progress of a Spark job, from Spark's status store.
 *
 * @param description of the job
 * @param bytesRead   by finished tasks
 */
final case class JobProgress(description: String, tasks: Int, tasksDone: Int, bytesRead: Long)

object JobProgress {

  /** The newest running job with a tag. */
  def of(session: SparkSession, tag: String): Option[JobProgress] = {
    val context = session.sparkContext
    val store = context.statusStore
    val jobs = context.statusTracker.getJobIdsForTag(tag).toSeq.flatMap(id => store.asOption(store.job(id)))
    jobs.filter(_.status == JobExecutionStatus.RUNNING).maxByOption(_.jobId).map { job =>
      JobProgress(
        job.description.getOrElse(job.name),
        job.numTasks,
        job.numCompletedTasks,
        job.stageIds.flatMap(id => store.asOption(store.lastStageAttempt(id))).map(_.inputBytes).sum
      )
    }
  }

  /** Counts what a task has read and written, if Spark does not count it. */
  def count(bytesRead: Long, bytesWritten: Long, rowsWritten: Long): Unit = {
    val metrics = TaskContext.get().taskMetrics()
    metrics.inputMetrics.incBytesRead(bytesRead)
    metrics.outputMetrics.setBytesWritten(bytesWritten)
    metrics.outputMetrics.setRecordsWritten(rowsWritten)
  }
}
