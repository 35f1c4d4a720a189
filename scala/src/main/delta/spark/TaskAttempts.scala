package org.apache.spark.sql.delta.upkeep.spark

import scala.annotation.tailrec

import org.apache.spark.{JobExecutionStatus, SparkContext, TaskContext}

/**
 * An attempt at a task of a job.
 *
 * @param index of the task in its stage
 * @param id    as `TaskContext.taskAttemptId` has it
 */
final case class TaskAttempt(index: Int, id: Long)

object TaskAttempts {

  /** Ends an attempt that was killed: nobody uses its result. */
  def stopIfKilled(task: TaskContext): Unit = task.killTaskIfInterrupted()

  /**
   * All attempts at the tasks of a job that has failed or is being cancelled, from Spark's status store.
   *
   * @param waitMs how long to wait for those that still run, in milliseconds
   */
  def ofEnded(context: SparkContext, jobId: Int, waitMs: Long): Seq[TaskAttempt] = {
    val until = System.nanoTime() + waitMs * 1000000
    @tailrec def await(): Seq[TaskAttempt] = {
      val (hasEnded, attempts) = statusOf(context, jobId)
      if (hasEnded || System.nanoTime() > until) attempts
      else {
        Thread.sleep(PollMs)
        await()
      }
    }
    await()
  }

  private def statusOf(context: SparkContext, jobId: Int): (Boolean, Seq[TaskAttempt]) = {
    val store = context.statusStore
    store.asOption(store.job(jobId)).fold((false, Seq.empty[TaskAttempt])) { job =>
      val stages = job.stageIds.toSeq.flatMap(store.stageData(_))
      val tasks = stages.flatMap(stage => store.taskList(stage.stageId, stage.attemptId, Int.MaxValue))
      val hasEnded = job.status != JobExecutionStatus.RUNNING && tasks.forall(_.status != "RUNNING")
      (hasEnded, tasks.map(task => TaskAttempt(task.index, task.taskId)))
    }
  }

  private val PollMs = 20L
}
